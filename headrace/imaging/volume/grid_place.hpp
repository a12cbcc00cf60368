#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// Where the voxels of one grid lie on those of another: index (x, y, z) of the source is voxel
/// first + x · step[0] + y · step[1] + z · step[2] of the target, which may lie outside of it.
struct GridPlace {
  std::array<std::int64_t, 3> first_xyz{};
  std::array<std::array<std::int64_t, 3>, 3> step_xyz{};

  std::array<std::int64_t, 3> operator()(std::int64_t x, std::int64_t y, std::int64_t z) const;
};

/// The element of an array (z, y, x) of the grid's shape at a voxel; nothing outside of it.
std::optional<std::int64_t> element_of(const std::array<std::int64_t, 3>& xyz,
                                       const VolumeGrid& grid);

/// The place of a grid whose voxels lie on those of `target` (kSameGridTolerance at every corner),
/// up to swapped or reversed axes; it may be smaller, or reach beyond. Nothing where they do not.
std::optional<GridPlace> place_on_grid(const VolumeGrid& source, const VolumeGrid& target);

}  // namespace headrace::imaging
