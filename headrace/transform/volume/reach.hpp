#pragma once
#include <array>
#include <cstdint>

#include "headrace/core/geometry.hpp"
#include "headrace/transform/volume/volume_graph.hpp"

namespace headrace::transform {

/// The parts of a sample's window that the gather reads: for a turned patch, not the window's
/// corners, so that chunks there need not be read.
class VolumeReach {
 public:
  /// `extent`: the part of the window that the level has, in window voxels; where samples beyond it
  /// read its nearest voxel, that voxel counts as read.
  VolumeReach(const VolumeParams& params, const VolumePatchSpec& patch,
              const VolumeGeometry& geometry, const Box3& extent);

  /// False only if no voxel of `box` (window voxels, inside `extent`) affects what VolumeGraph::run
  /// writes: the bytes are the same whatever the box holds.
  bool touches(const Box3& box) const;

 private:
  Box3 window_, extent_;                ///< both in window voxels
  std::array<std::int64_t, 3> edge_{};  ///< voxels of the extent that are repeated beyond it
  std::array<double, 3> margin_low_, margin_high_;  ///< voxels beyond a box that count as its own
  std::array<double, 9> patch_from_window_;         ///< linear part, row-major
  std::array<double, 3> offset_;                    ///< window index of output voxel (0, 0, 0)
  std::array<double, 3> last_;                      ///< index of the last output voxel
};

}  // namespace headrace::transform
