#pragma once
#include <cstdint>
#include <type_traits>

#include "headrace/math/bspline.hpp"
#include "headrace/math/trilinear.hpp"
#include "headrace/transform/taps.hpp"
#include "headrace/transform/volume/intensity_program.hpp"

namespace headrace::transform {

/// Output voxel (slice, row, column) → tap coordinates in the window, axis by axis: affine plus
/// elastic displacement, in float32 relative to the window.
struct VolumePlacement {
  /// For each of z, y, x: c = column·m[2] + (row·m[1] + (slice·m[0] + m[3])).
  float m[3][4];
  std::int32_t grid;  ///< cells along each axis; 0: no elastic deformation
  float grid_scale[3], grid_offset[3];
  const float* control[3];  ///< (grid + 3)³ window voxels, z, y, x
};

HR_HD float slice_part(const VolumePlacement& p, int axis, std::int32_t slice) {
  return math::to_float(slice) * p.m[axis][0] + p.m[axis][3];
}
HR_HD float row_part(const VolumePlacement& p, int axis, float slice_part, std::int32_t row) {
  return math::to_float(row) * p.m[axis][1] + slice_part;
}
template <typename F>
HR_HD F along_row(const VolumePlacement& p, int axis, float row_part, F column) {
  return column * p.m[axis][2] + row_part;
}

/// Place of a slice, row or column (axis 0, 1, 2) in the grid of control values.
HR_HD math::SplinePlace grid_place(const VolumePlacement& p, int axis, std::int32_t index) {
  return math::spline_place(math::to_float(index) * p.grid_scale[axis] + p.grid_offset[axis],
                            p.grid);
}

/// All inputs of the gather: the image, its labels where there are any, and the first pass.
struct VolumeKernel {
  VolumePlacement placement;
  math::VoxelWindow image;
  bool empty;     ///< the level has no voxel of the window: the image reads as `outside`
  float outside;  ///< a stored value
  bool whole;     ///< the level has every voxel of the window
  math::LabelVolume labels;
  VolumeStages stages;
  std::int32_t size[3];
  float* dst;                ///< (depth, height, width)
  std::uint8_t* dst_labels;  ///< null: no labels
};

/// A later pass over the output of an earlier one.
struct VolumeStagesKernel {
  VolumeStages stages;
  std::int32_t size[3];
  float* dst;
};

/// One separable Gaussian over dst, borders mirrored about the outermost voxel centres.
struct VolumeBlurKernel {
  static constexpr int kMaxRadius = 32;
  std::int32_t radius;
  float weights[2 * kMaxRadius + 1];
  std::int32_t size[3];
  float* dst;
};

/// Reduction to the nearest voxels, and linear enlargement back. Sizes are measured between outer
/// edges, so that voxel i of n covers [i / n, (i + 1) / n).
struct LowResolutionKernel {
  std::int32_t size[3], small[3];
  float reduce[3], enlarge[3];  ///< size / small, small / size
  float* dst;
};
/// The voxel that a small one takes.
HR_HD std::int32_t reduced_index(const LowResolutionKernel& k, int axis, std::int32_t small) {
  return math::clamp_index(math::to_int((math::to_float(small) + 0.5f) * k.reduce[axis]),
                           k.size[axis] - 1);
}
/// The small voxels around a voxel.
HR_HD math::TapPlace<float> enlarged_place(const LowResolutionKernel& k, int axis, std::int32_t i) {
  const float c = math::clamp((math::to_float(i) + 0.5f) * k.enlarge[axis] - 0.5f, 0.0f,
                              math::to_float(k.small[axis] - 1));
  const std::int32_t index = math::to_int(c);
  return {index, c - math::to_float(index)};
}

/// One axis of the smoothing of a window that is read at a coarser spacing; weights in 1/32768, in
/// integers, so that order does not matter. A voxel that does not exist counts as the nearest one
/// that does.
struct SmoothKernel {
  static constexpr int kMaxRadius = 64;
  std::int32_t axis, radius;
  std::int16_t weights[2 * kMaxRadius + 1];
  std::int32_t begin[3], end[3];  ///< voxels of the window that exist
  const std::int16_t* src;
  std::int64_t src_row, src_slice;  ///< elements
  std::int16_t* dst;
  std::int64_t dst_row, dst_slice;
};
HR_HD std::int32_t smooth_rounded(std::int32_t sum) { return (sum + 16384) >> 15; }

static_assert(std::is_trivially_copyable_v<VolumeKernel> &&
              std::is_trivially_copyable_v<VolumeStagesKernel> &&
              std::is_trivially_copyable_v<VolumeBlurKernel> &&
              std::is_trivially_copyable_v<LowResolutionKernel> &&
              std::is_trivially_copyable_v<SmoothKernel>);

}  // namespace headrace::transform
