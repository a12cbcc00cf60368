#include "learn/predict/volume/voxel_extent.hpp"

#include <algorithm>

namespace headrace::predict {

void VoxelExtent::add(std::int64_t z, std::int64_t y, std::int64_t x0, std::int64_t x1) {
  const std::int64_t count = x1 - x0;
  voxels += static_cast<std::uint64_t>(count);
  const std::array low{z, y, x0}, high{z, y, x1 - 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first_zyx[axis] = std::min(first_zyx[axis], low[axis]);
    last_zyx[axis] = std::max(last_zyx[axis], high[axis]);
    doubled_zyx[axis] += count * (low[axis] + high[axis]);
  }
}

double VoxelExtent::volume_ml(const imaging::VolumeGrid& grid) const {
  const auto [z, y, x] = grid.spacing_mm_zyx();
  return static_cast<double>(voxels) * (z * y * x) / 1000;
}

imaging::Vec3 VoxelExtent::centre_index_xyz() const {
  imaging::Vec3 out{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    out[2 - axis] = static_cast<double>(doubled_zyx[axis]) / (2 * static_cast<double>(voxels));
  return out;
}

Json VoxelExtent::to_json(const imaging::VolumeGrid& grid) const {
  Json out = {{"voxels", voxels},          {"volume_ml", volume_ml(grid)},
              {"centre_lps_mm", nullptr},  {"first_voxel_zyx", nullptr},
              {"last_voxel_zyx", nullptr}, {"size_mm_zyx", nullptr}};
  if (voxels == 0) return out;
  const auto [x, y, z] = centre_index_xyz();
  const auto spacing = grid.spacing_mm_zyx();
  std::array<double, 3> size{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    size[axis] = static_cast<double>(last_zyx[axis] + 1 - first_zyx[axis]) * spacing[axis];
  out["centre_lps_mm"] = grid.to_lps_mm(x, y, z);
  out["first_voxel_zyx"] = first_zyx;
  out["last_voxel_zyx"] = last_zyx;
  out["size_mm_zyx"] = size;
  return out;
}

}  // namespace headrace::predict
