#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::ingest {

/// One lesion: a connected component (26 neighbours) of one class of a label map.
struct Lesion {
  std::uint16_t class_value = 0;
  std::uint64_t voxels = 0;
  double volume_mm3 = 0;
  std::array<double, 3> centre_lps_mm{};  ///< mean of its voxels' centres
  std::array<std::int64_t, 3> box_zyx{},
      size_zyx{};  ///< its first voxel on each axis, and how many
};

/// Lesions of the classes of `values`, by class and then by first voxel in (z, y, x) order.
/// labels: (z, y, x) on `grid`. cost: a bit a voxel and twenty bytes a run.
std::vector<Lesion> find_lesions(const std::uint16_t* labels, const imaging::VolumeGrid& grid,
                                 const std::vector<std::uint16_t>& values);

}  // namespace headrace::ingest
