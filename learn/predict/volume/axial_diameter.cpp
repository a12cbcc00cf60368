#include "learn/predict/volume/axial_diameter.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headrace::predict {
namespace {

using imaging::Vec3;
using imaging::VolumeGrid;

/// A voxel of a slice.
struct Place {
  std::int64_t y = 0, x = 0;
};

double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Directions of a plane of equal z in millimetres a voxel.
struct Plane {
  Vec3 along_x{}, along_y{};

  explicit Plane(const VolumeGrid& grid) {
    for (std::size_t row = 0; row < 3; ++row) {
      along_x[row] = grid.affine_lps[4 * row];
      along_y[row] = grid.affine_lps[4 * row + 1];
    }
  }
  Vec3 between(const Place& from, const Place& to) const {
    const auto dx = static_cast<double>(to.x - from.x), dy = static_cast<double>(to.y - from.y);
    Vec3 out{};
    for (std::size_t row = 0; row < 3; ++row) out[row] = dx * along_x[row] + dy * along_y[row];
    return out;
  }
};

/// Twice the area of the triangle; positive for a left turn (x to the right, y up).
std::int64_t turn(const Place& a, const Place& b, const Place& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// One side of the hull: the points of it, in order, from the first point to the last.
template <typename Iterator>
std::vector<Place> half_hull(Iterator from, Iterator to) {
  std::vector<Place> out;
  for (; from != to; ++from) {
    while (out.size() >= 2 && turn(out[out.size() - 2], out.back(), *from) <= 0) out.pop_back();
    out.push_back(*from);
  }
  return out;
}

/// Corners of the convex hull of a slice's runs, in (y, x) order (Andrew's monotone chain). The
/// ends of rows hold all of them. Linear maps keep a hull's corners, so indices do for millimetres.
std::vector<Place> hull_corners(std::span<const pixels::Run> slice) {
  std::vector<Place> ends;
  for (const pixels::Run& run : slice) {
    ends.push_back({run.y, run.x0});
    if (run.x1 - run.x0 > 1) ends.push_back({run.y, run.x1 - 1});
  }
  std::vector<Place> corners = half_hull(ends.begin(), ends.end());
  const std::vector<Place> back = half_hull(ends.rbegin(), ends.rend());
  corners.insert(corners.end(), back.begin(), back.end());
  const auto key = [](const Place& at) { return std::array{at.y, at.x}; };
  std::sort(corners.begin(), corners.end(),
            [&](const Place& a, const Place& b) { return key(a) < key(b); });
  corners.erase(std::unique(corners.begin(), corners.end(),
                            [&](const Place& a, const Place& b) { return key(a) == key(b); }),
                corners.end());
  return corners;
}

struct Longest {
  Place from, to;
  double square_mm2 = 0;
};

Longest longest_of(const std::vector<Place>& corners, const Plane& plane) {
  Longest out{corners.front(), corners.front(), 0};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    for (std::size_t j = i + 1; j < corners.size(); ++j) {
      const Vec3 step = plane.between(corners[i], corners[j]);
      const double square = dot(step, step);
      if (square > out.square_mm2) out = {corners[i], corners[j], square};
    }
  }
  return out;
}

double extent_across_mm(const std::vector<Place>& corners, const Plane& plane,
                        const Longest& longest) {
  if (longest.square_mm2 == 0) return 0;
  const Vec3 normal = cross(plane.along_x, plane.along_y);
  const Vec3 across = cross(normal, plane.between(longest.from, longest.to));
  const double length = std::sqrt(dot(across, across));
  double low = 0, high = 0;  // the ends themselves lie at 0
  for (const Place& corner : corners) {
    const double at = dot(plane.between(longest.from, corner), across) / length;
    low = std::min(low, at);
    high = std::max(high, at);
  }
  return high - low;
}

}  // namespace

AxialDiameter axial_diameter(std::span<const pixels::Run> runs, const VolumeGrid& grid) {
  const Plane plane(grid);
  AxialDiameter out;
  double best = -1;
  for (std::size_t first = 0; first < runs.size();) {
    std::size_t end = first;
    while (end < runs.size() && runs[end].z == runs[first].z) ++end;
    const std::vector<Place> corners = hull_corners(runs.subspan(first, end - first));
    const Longest longest = longest_of(corners, plane);
    if (longest.square_mm2 > best) {
      best = longest.square_mm2;
      out.slice = runs[first].z;
      out.longest_mm = std::sqrt(longest.square_mm2);
      out.ends_yx = {{{longest.from.y, longest.from.x}, {longest.to.y, longest.to.x}}};
      out.perpendicular_mm = extent_across_mm(corners, plane, longest);
    }
    first = end;
  }
  return out;
}

}  // namespace headrace::predict
