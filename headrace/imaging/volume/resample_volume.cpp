#include "headrace/imaging/volume/resample_volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace headrace::imaging {
namespace {

/// How far rounding may move a place on the edge beyond it, in voxels.
constexpr double kOnTheEdge = 1e-6;

/// The two voxels along an axis around a place, and its fraction of the way between them.
struct Between {
  std::int64_t low = 0, high = 0;
  double part = 0;
  bool inside = false;
};

Between between(double place, std::int64_t size) {
  Between b;
  const auto last = static_cast<double>(size - 1);
  b.inside = place >= -0.5 - kOnTheEdge && place <= last + 0.5 + kOnTheEdge;
  if (!b.inside) return b;
  const double held = std::clamp(place, 0.0, last), below = std::floor(held);
  b.low = static_cast<std::int64_t>(below);
  b.high = std::min(b.low + 1, size - 1);
  b.part = held - below;
  return b;
}

double mix(double a, double b, double part) { return a + (b - a) * part; }

/// Index (x, y, z) in `from` of a voxel of `to`: the step of each axis, and the place of the first
/// voxel.
struct IndexMap {
  std::array<Vec3, 3> step{};
  Vec3 first{};
};

IndexMap index_map(const VolumeGrid& from, const VolumeGrid& to) {
  IndexMap map;
  map.first = from.to_index(to.to_lps_mm(0, 0, 0));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Vec3 one{};
    one[axis] = 1;
    const Vec3 next = from.to_index(to.to_lps_mm(one[0], one[1], one[2]));
    for (std::size_t i = 0; i < 3; ++i) map.step[axis][i] = next[i] - map.first[i];
  }
  return map;
}

Vec3 place_of(const IndexMap& map, std::int64_t z, std::int64_t y, std::int64_t x) {
  Vec3 place{};
  for (std::size_t i = 0; i < 3; ++i) {
    place[i] = map.first[i] + static_cast<double>(z) * map.step[2][i] +
               static_cast<double>(y) * map.step[1][i] + static_cast<double>(x) * map.step[0][i];
  }
  return place;
}

/// Whether all corners of a box that reaches `beyond` voxels past the outermost centres of `box`
/// lie beyond one face of `of`, which reaches `reach` voxels past its own.
bool beyond_a_face(const VolumeGrid& box, double beyond, const VolumeGrid& of, double reach) {
  std::array<bool, 3> below{true, true, true}, above{true, true, true};
  for (int corner = 0; corner < 8; ++corner) {
    Vec3 at{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto last = static_cast<double>(box.shape_zyx[2 - axis] - 1);
      at[axis] = (corner >> axis & 1) != 0 ? last + beyond : -beyond;
    }
    const Vec3 index = of.to_index(box.to_lps_mm(at[0], at[1], at[2]));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto last = static_cast<double>(of.shape_zyx[2 - axis] - 1);
      below[axis] = below[axis] && index[axis] < -reach - kOnTheEdge;
      above[axis] = above[axis] && index[axis] > last + reach + kOnTheEdge;
    }
  }
  const auto any = [](const auto& sides) {
    return std::any_of(sides.begin(), sides.end(), [](bool all) { return all; });
  };
  return any(below) || any(above);
}

}  // namespace

std::int64_t resample_linear(const std::int16_t* from, const VolumeGrid& from_grid,
                             const VolumeGrid& to_grid, std::int16_t outside, std::int16_t* to,
                             ThreadPool& pool) {
  const IndexMap map = index_map(from_grid, to_grid);
  const auto [depth, height, width] = from_grid.shape_zyx;
  const auto [slices, rows, columns] = to_grid.shape_zyx;
  const auto voxel = [&, height = height, width = width](std::int64_t z, std::int64_t y,
                                                         std::int64_t x) {
    return static_cast<double>(from[(z * height + y) * width + x]);
  };
  const auto value = [&, depth = depth, height = height, width = width](const Vec3& place,
                                                                        std::int16_t& out) {
    const Between x = between(place[0], width), y = between(place[1], height),
                  z = between(place[2], depth);
    if (!x.inside || !y.inside || !z.inside) return false;
    const auto row = [&](std::int64_t zi, std::int64_t yi) {
      return mix(voxel(zi, yi, x.low), voxel(zi, yi, x.high), x.part);
    };
    const auto slice = [&](std::int64_t zi) {
      return mix(row(zi, y.low), row(zi, y.high), y.part);
    };
    out = static_cast<std::int16_t>(std::nearbyint(mix(slice(z.low), slice(z.high), z.part)));
    return true;
  };
  std::vector<std::int64_t> beyond(static_cast<std::size_t>(slices), 0);
  pool.parallel_for(beyond.size(), [&, rows = rows, columns = columns](std::size_t slice) {
    std::int16_t* out = to + static_cast<std::int64_t>(slice) * rows * columns;
    for (std::int64_t y = 0; y < rows; ++y) {
      for (std::int64_t x = 0; x < columns; ++x, ++out) {
        if (value(place_of(map, static_cast<std::int64_t>(slice), y, x), *out)) continue;
        *out = outside;
        ++beyond[slice];
      }
    }
  });
  return std::accumulate(beyond.begin(), beyond.end(), std::int64_t{0});
}

pixels::BitVolume reached_voxels(const VolumeGrid& from_grid, const VolumeGrid& to_grid,
                                 ThreadPool& pool) {
  const IndexMap map = index_map(from_grid, to_grid);
  const auto& size = from_grid.shape_zyx;
  pixels::BitVolume reached(to_grid.shape_zyx);
  pool.parallel_for(static_cast<std::size_t>(to_grid.shape_zyx[0]), [&](std::size_t slice) {
    const auto z = static_cast<std::int64_t>(slice);
    for (std::int64_t y = 0; y < to_grid.shape_zyx[1]; ++y) {
      std::uint64_t* row = reached.row(z, y);
      for (std::int64_t x = 0; x < to_grid.shape_zyx[2]; ++x) {
        const Vec3 place = place_of(map, z, y, x);
        const bool in = between(place[0], size[2]).inside && between(place[1], size[1]).inside &&
                        between(place[2], size[0]).inside;
        row[x >> 6] |= std::uint64_t{in} << (x & 63);
      }
    }
  });
  return reached;
}

bool certainly_apart(const VolumeGrid& from_grid, const VolumeGrid& to_grid) {
  return beyond_a_face(to_grid, 0, from_grid, 0.5) || beyond_a_face(from_grid, 0.5, to_grid, 0);
}

}  // namespace headrace::imaging
