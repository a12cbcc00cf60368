#include "headrace/phantom/tube.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::phantom {
namespace {

/// Uniform Catmull-Rom spline between b and c.
float catmull_rom(float a, float b, float c, float d, float t) {
  return b + 0.5f * t *
                 (c - a + t * (2.0f * a - 5.0f * b + 4.0f * c - d + t * (3.0f * (b - c) + d - a)));
}

}  // namespace

std::vector<Bead> beads_of(std::span<const Knot> knots, float step_mm, float fold_mm, float fold) {
  constexpr int kFine = 64;  // pieces a segment, for the length along the curve
  std::vector<Bead> beads;
  float way = 0, next = 0;
  Point3 last = knots[0].at;
  const auto knot = [&](std::ptrdiff_t i) -> const Knot& {
    return knots[static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(i, 0, static_cast<std::ptrdiff_t>(knots.size()) - 1))];
  };
  for (std::ptrdiff_t i = 0; i + 1 < static_cast<std::ptrdiff_t>(knots.size()); ++i) {
    for (int k = 0; k <= kFine; ++k) {
      const float t = static_cast<float>(k) / kFine;
      Point3 at;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        at[axis] = catmull_rom(knot(i - 1).at[axis], knot(i).at[axis], knot(i + 1).at[axis],
                               knot(i + 2).at[axis], t);
      }
      const Point3 move = at - last;
      way += std::sqrt(dot(move, move));
      last = at;
      if (way < next) continue;
      next += step_mm;
      float radius = knot(i).radius + (knot(i + 1).radius - knot(i).radius) * t;
      if (fold > 0) {
        const float phase = way / fold_mm - std::floor(way / fold_mm), off = 2.0f * phase - 1.0f;
        radius *= 1.0f - fold * off * off * off * off;  // wide sacs, narrow folds
      }
      beads.push_back({at, radius, way});
    }
  }
  return beads;
}

}  // namespace headrace::phantom
