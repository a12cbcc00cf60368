#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/transform/volume/volume_params.hpp"
#include "headrace/transform/volume/voxel_kernel.hpp"

namespace headrace::transform {

/// Output voxel index → offset from the sample's centre in level voxels, elastic part aside.
/// `scale`: VolumeGeometry::scale_zyx.
Affine3 level_map(const VolumeParams& params, const VolumePatchSpec& patch,
                  const std::array<double, 3>& scale);

/// How the window is smoothed along one axis before it is read; radius 0: not smoothed.
///
/// An axis is reduced by the output spacing over the level's, divided by the affine's scale. Above
/// 1.5, sigma = (reduction - 1) / 2 level voxels, cut off at 4 sigma.
/// source  scikit-image, transform.rescale with anti_aliasing
struct AxisSmoothing {
  double sigma = 0;
  int radius = 0;
};
std::array<AxisSmoothing, 3> smoothing_of(const VolumeParams& params,
                                          const std::array<double, 3>& scale);

/// Control values in window voxels, and a pack after the last; a kernel points into them.
using ControlVoxels = std::array<std::vector<float>, 3>;

/// Composes everything in double and rounds once. Errors: internal (a view is not the geometry's),
/// memory (2 GiB or more).
VolumeKernel volume_kernel(const VolumeParams& params, const VolumePatchSpec& patch,
                           const VolumeGeometry& geometry, const VolumeView<std::int16_t>& image,
                           const VolumeView<std::uint8_t>& labels, const Box3& extent,
                           std::uint8_t outside_label, float* dst, std::uint8_t* dst_labels,
                           ControlVoxels& controls);
/// Weights of one axis; the caller fills in the memory.
SmoothKernel smooth_kernel(const AxisSmoothing& smoothing, int axis, const Box3& extent,
                           const Box3& window);

}  // namespace headrace::transform
