#include "learn/handover/volume/file_order.hpp"

#include <algorithm>
#include <array>

#include "headrace/core/error.hpp"

namespace headrace::handover {

imaging::VoxelPlaces file_places(const result::VolumeMap& map, std::size_t voxels) {
  std::array<int, 3> axes = map.from_file.axis;
  std::sort(axes.begin(), axes.end());
  if (axes != std::array{0, 1, 2}) {
    fail(ErrorCode::malformed, "prediction: from_file is no order of three axes ({}, {}, {})",
         map.from_file.axis[0], map.from_file.axis[1], map.from_file.axis[2]);
  }
  const auto expected = imaging::reordered(map.file_grid, map.from_file).shape_zyx;
  if (map.grid.shape_zyx != expected) {
    fail(ErrorCode::malformed,
         "prediction: the map has {}×{}×{} voxels (z, y, x), but its file in this order has "
         "{}×{}×{}; predict the image again",
         map.grid.shape_zyx[0], map.grid.shape_zyx[1], map.grid.shape_zyx[2], expected[0],
         expected[1], expected[2]);
  }
  if (static_cast<std::size_t>(map.grid.voxels()) != voxels) {
    fail(ErrorCode::internal, "{} values for a map of {} voxels", voxels, map.grid.voxels());
  }
  return imaging::places_of(map.from_file, map.grid.shape_zyx);
}

}  // namespace headrace::handover
