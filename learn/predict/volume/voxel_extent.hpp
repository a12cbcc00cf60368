#pragma once
#include <array>
#include <cstdint>

#include "headrace/core/json.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::predict {

/// Number, box and centre of some voxels of a grid, exact whatever the order they come in.
struct VoxelExtent {
  std::uint64_t voxels = 0;
  /// The box around them in voxel indices, both ends included. Of no meaning without voxels.
  std::array<std::int64_t, 3> first_zyx{INT64_MAX, INT64_MAX, INT64_MAX}, last_zyx{-1, -1, -1};
  std::array<std::int64_t, 3> doubled_zyx{};  ///< sums of 2 · index

  /// Voxels x0 … x1 - 1 of a row.
  void add(std::int64_t z, std::int64_t y, std::int64_t x0, std::int64_t x1);

  double volume_ml(const imaging::VolumeGrid& grid) const;
  /// Mean index of the voxels, that of the first voxel of the grid being 0. There must be one.
  imaging::Vec3 centre_index_xyz() const;
  /// {voxels, volume_ml, centre_lps_mm, first_voxel_zyx, last_voxel_zyx, size_mm_zyx}: the size is
  /// that of the box with its voxels' own size, along the axes of the grid. All but the first two
  /// are null without voxels.
  Json to_json(const imaging::VolumeGrid& grid) const;
};

}  // namespace headrace::predict
