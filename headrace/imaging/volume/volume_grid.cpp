#include "headrace/imaging/volume/volume_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headrace::imaging {

double VolumeGrid::spacing_mm(int column) const {
  const double x = affine_lps[column], y = affine_lps[4 + column], z = affine_lps[8 + column];
  return std::sqrt(x * x + y * y + z * z);
}

std::array<double, 3> VolumeGrid::spacing_mm_zyx() const {
  return {spacing_mm(2), spacing_mm(1), spacing_mm(0)};
}

std::array<double, 9> VolumeGrid::direction_lps() const {
  std::array<double, 9> direction{};
  for (int column = 0; column < 3; ++column) {
    const double length = spacing_mm(column);
    for (int row = 0; row < 3; ++row) {
      direction[3 * row + column] = affine_lps[4 * row + column] / length;
    }
  }
  return direction;
}

Vec3 VolumeGrid::to_lps_mm(double x, double y, double z) const {
  const auto& a = affine_lps;
  return {a[0] * x + a[1] * y + a[2] * z + a[3], a[4] * x + a[5] * y + a[6] * z + a[7],
          a[8] * x + a[9] * y + a[10] * z + a[11]};
}

Vec3 VolumeGrid::to_index(const Vec3& lps_mm) const {
  Vec3 index{};
  const Vec3 origin = origin_lps_mm();
  for (int column = 0; column < 3;
       ++column) {  // perpendicular columns: the inverse is the scaled transpose
    const double length = spacing_mm(column);
    double along = 0;
    for (int row = 0; row < 3; ++row) {
      along += affine_lps[4 * row + column] * (lps_mm[row] - origin[row]);
    }
    index[column] = along / (length * length);
  }
  return index;
}

std::string VolumeGrid::text() const {
  const auto d = direction_lps();
  const auto o = origin_lps_mm();
  return fmt::format(
      "{}x{}x{} voxels (x, y, z) of {:.6g} x {:.6g} x {:.6g} mm, origin ({:.6g}, {:.6g}, {:.6g}) "
      "mm LPS, "
      "direction ({:.4g} {:.4g} {:.4g}; {:.4g} {:.4g} {:.4g}; {:.4g} {:.4g} {:.4g})",
      shape_zyx[2], shape_zyx[1], shape_zyx[0], spacing_mm(0), spacing_mm(1), spacing_mm(2), o[0],
      o[1], o[2], d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8]);
}

VolumeGrid VolumeGrid::of(const std::array<std::int64_t, 3>& shape_zyx, const Vec3& spacing_mm_xyz,
                          const Vec3& origin_lps_mm, const std::array<double, 9>& direction_lps) {
  VolumeGrid grid;
  grid.shape_zyx = shape_zyx;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      grid.affine_lps[4 * row + column] = direction_lps[3 * row + column] * spacing_mm_xyz[column];
    }
    grid.affine_lps[4 * row + 3] = origin_lps_mm[row];
  }
  return grid;
}

namespace {

std::optional<AxisMap> nearest_axes(const VolumeGrid& source, const VolumeGrid& target) {
  const auto s = source.direction_lps(), t = target.direction_lps();
  AxisMap map;
  std::array<bool, 3> taken{};
  for (int j = 0; j < 3; ++j) {
    int best = -1;
    double best_cosine = 0;
    for (int i = 0; i < 3; ++i) {
      double cosine = 0;
      for (int row = 0; row < 3; ++row) cosine += t[3 * row + j] * s[3 * row + i];
      if (best < 0 || std::abs(cosine) > std::abs(best_cosine)) {
        best = i;
        best_cosine = cosine;
      }
    }
    if (taken[best]) return std::nullopt;
    taken[best] = true;
    map.axis[j] = best;
    map.flip[j] = best_cosine < 0;
  }
  return map;
}

}  // namespace

std::optional<AxisMap> match_grids(const VolumeGrid& source, const VolumeGrid& target) {
  const auto map = nearest_axes(source, target);
  if (!map) return std::nullopt;
  const std::array<std::int64_t, 3> source_xyz{source.shape_zyx[2], source.shape_zyx[1],
                                               source.shape_zyx[0]};
  const std::array<std::int64_t, 3> target_xyz{target.shape_zyx[2], target.shape_zyx[1],
                                               target.shape_zyx[0]};
  for (int j = 0; j < 3; ++j) {
    if (source_xyz[map->axis[j]] != target_xyz[j]) return std::nullopt;
  }
  const double allowed = kSameGridTolerance * std::min({target.spacing_mm(0), target.spacing_mm(1),
                                                        target.spacing_mm(2)});
  for (int corner = 0; corner < 8; ++corner) {
    Vec3 target_index{}, source_index{};
    for (int j = 0; j < 3; ++j) {
      const bool far = (corner >> j & 1) != 0;
      const auto last = static_cast<double>(target_xyz[j] - 1);
      target_index[j] = far ? last : 0;
      source_index[map->axis[j]] = far != map->flip[j] ? last : 0;
    }
    const Vec3 a = target.to_lps_mm(target_index[0], target_index[1], target_index[2]);
    const Vec3 b = source.to_lps_mm(source_index[0], source_index[1], source_index[2]);
    const double distance =
        std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                  (a[2] - b[2]) * (a[2] - b[2]));
    if (!(distance <= allowed)) return std::nullopt;
  }
  return map;
}

}  // namespace headrace::imaging
