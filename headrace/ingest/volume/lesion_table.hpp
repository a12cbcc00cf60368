#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"
#include "headrace/ingest/store/site_rows.hpp"

namespace headrace::ingest {

/// One lesion: a connected component (26 neighbours) of one class of a label map.
struct Lesion {
  std::uint16_t class_value = 0;
  std::uint64_t voxels = 0;
  double volume_mm3 = 0;
  std::array<double, 3> centre_lps_mm{};  ///< mean of its voxels' centres
  std::array<std::int64_t, 3> box_zyx{},
      size_zyx{};  ///< first voxel on each axis, and number of voxels
};

/// Lesions of the classes of `values`, by class and then by first voxel in (z, y, x) order, and the
/// places of each class above 0, lesion by lesion.
/// labels: (z, y, x) on `grid`: values below 256; 255 is not counted. sites: of the grid's shape;
/// their regions are the lesions' numbers, or kWholeClass for a class that is not in `values`.
/// cost: a bit for each voxel of the box around a class and twenty bytes for each run.
std::vector<Lesion> find_lesions(const std::uint16_t* labels, const imaging::VolumeGrid& grid,
                                 const std::vector<std::uint16_t>& values, SiteRows& sites);

}  // namespace headrace::ingest
