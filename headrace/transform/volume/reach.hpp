#pragma once
#include <array>
#include <cstdint>

#include "headrace/core/geometry.hpp"
#include "headrace/transform/volume/graph.hpp"

namespace headrace::transform {

/// Which parts of a sample's window the gather looks at: of a turned patch, not its corners. So
/// that chunks in the corners need not be read.
class VolumeReach {
 public:
  /// `extent`: the part of the window that the level has, in window voxels; where samples beyond it
  /// read its nearest voxel, that voxel counts as looked at.
  VolumeReach(const VolumeParams& params, const VolumePatchSpec& patch,
              const VolumeGeometry& geometry, const Box3& extent);

  /// False only if no voxel of `box` (window voxels, inside `extent`) has any part in what
  /// VolumeGraph::run writes: whatever stands there, the bytes are the same.
  bool touches(const Box3& box) const;

 private:
  Box3 window_, extent_;                ///< both in window voxels
  std::array<std::int64_t, 3> edge_{};  ///< voxels of the extent that stand for what lies beyond
  std::array<double, 3> margin_low_, margin_high_;  ///< voxels beyond a box that count as its own
  std::array<double, 9> patch_from_window_;         ///< linear part, row-major
  std::array<double, 3> offset_;                    ///< window index of output voxel (0, 0, 0)
  std::array<double, 3> last_;                      ///< index of the last output voxel
};

}  // namespace headrace::transform
