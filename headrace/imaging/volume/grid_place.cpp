#include "headrace/imaging/volume/grid_place.hpp"

#include <cmath>

namespace headrace::imaging {
namespace {

using Index = std::array<std::int64_t, 3>;

/// The whole voxel of the target at a voxel of the source.
std::optional<Index> whole_voxel(const VolumeGrid& source, const VolumeGrid& target,
                                 const Index& xyz) {
  const Vec3 at = target.to_index(source.to_lps_mm(
      static_cast<double>(xyz[0]), static_cast<double>(xyz[1]), static_cast<double>(xyz[2])));
  Index whole{};
  for (int a = 0; a < 3; ++a) {
    const double nearest = std::round(at[a]);
    if (!(std::abs(at[a] - nearest) <= kSameGridTolerance)) return std::nullopt;
    whole[static_cast<std::size_t>(a)] = static_cast<std::int64_t>(nearest);
  }
  return whole;
}

}  // namespace

Index GridPlace::operator()(std::int64_t x, std::int64_t y, std::int64_t z) const {
  Index at = first_xyz;
  for (std::size_t a = 0; a < 3; ++a)
    at[a] += x * step_xyz[0][a] + y * step_xyz[1][a] + z * step_xyz[2][a];
  return at;
}

std::optional<std::int64_t> element_of(const Index& xyz, const VolumeGrid& grid) {
  const auto [depth, height, width] = grid.shape_zyx;
  const auto [x, y, z] = xyz;
  if (x < 0 || x >= width || y < 0 || y >= height || z < 0 || z >= depth) return std::nullopt;
  return (z * height + y) * width + x;
}

std::optional<GridPlace> place_on_grid(const VolumeGrid& source, const VolumeGrid& target) {
  const auto first = whole_voxel(source, target, {0, 0, 0});
  if (!first) return std::nullopt;
  GridPlace place{*first, {}};
  std::array<bool, 3> taken{};
  for (std::size_t j = 0; j < 3; ++j) {
    if (source.shape_zyx[2 - j] == 1) continue;  // no step is taken along it
    Index unit{};
    unit[j] = 1;
    const auto next = whole_voxel(source, target, unit);
    if (!next) return std::nullopt;
    std::int64_t moved = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t step = (*next)[a] - (*first)[a];
      place.step_xyz[j][a] = step;
      moved += std::abs(step);
      if (step == 0) continue;
      if (taken[a]) return std::nullopt;
      taken[a] = true;
    }
    if (moved != 1) return std::nullopt;
  }
  const Index last{source.shape_zyx[2] - 1, source.shape_zyx[1] - 1, source.shape_zyx[0] - 1};
  for (int corner = 1; corner < 8; ++corner) {
    Index at{};
    for (std::size_t j = 0; j < 3; ++j) at[j] = (corner >> j & 1) != 0 ? last[j] : 0;
    const auto there = whole_voxel(source, target, at);
    if (!there || *there != place(at[0], at[1], at[2])) return std::nullopt;
  }
  return place;
}

}  // namespace headrace::imaging
