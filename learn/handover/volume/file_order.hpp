#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/imaging/volume/canonical_grid.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// The place of each voxel of the predicted file in a map of `voxels` values in stored order.
/// Errors: malformed (the map's grid is not the file's, its axes permuted and reversed); internal
/// (not as many values as the grid has voxels).
imaging::VoxelPlaces file_places(const result::VolumeMap& map, std::size_t voxels);

/// A map of a volume, (z, y, x) in stored order (LPS), on the grid of the file that was predicted:
/// the same values, (z, y, x) of `map.file_grid`, x adjacent. Nothing is resampled.
///
/// in      values  (z, y, x) of map.grid
/// memory  the map again
/// errors  those of file_places
template <typename T>
std::vector<T> file_order(std::span<const T> values, const result::VolumeMap& map) {
  const imaging::VoxelPlaces places = file_places(map, values.size());
  std::vector<T> out(values.size());
  for (std::int64_t z = 0; z < map.file_grid.shape_zyx[0]; ++z) {
    imaging::slice_in_file_order(values.data(), map.file_grid, z, places,
                                 out.data() + z * map.file_grid.slice_voxels());
  }
  return out;
}

}  // namespace headrace::handover
