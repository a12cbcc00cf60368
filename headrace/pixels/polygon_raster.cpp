#include "headrace/pixels/polygon_raster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headrace::pixels {
namespace {

struct Crossing {
  std::int64_t row;
  double x;
  bool operator<(const Crossing& other) const {
    return row != other.row ? row < other.row : x < other.x;
  }
};

/// First index whose centre, index + 0.5, is not below `at`; clamped to [low, high] so that any
/// double is allowed.
std::int64_t first_centre(double at, std::int64_t low, std::int64_t high) {
  if (at <= static_cast<double>(low) + 0.5) return low;
  if (at > static_cast<double>(high) - 0.5) return high;
  auto index = static_cast<std::int64_t>(std::ceil(at - 0.5));
  while (static_cast<double>(index) - 0.5 >= at) --index;
  while (static_cast<double>(index) + 0.5 < at) ++index;
  return std::clamp(index, low, high);
}

}  // namespace

void PolygonRaster::add(const std::vector<Ring>& rings, std::uint16_t value, double scale,
                        double shift) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Shape shape{kInfinity, kInfinity, -kInfinity, -kInfinity, value, {}};
  for (const Ring& ring : rings) {
    for (std::size_t v = 0; v < ring.size(); ++v) {
      const auto& from = ring[v];
      const auto& to = ring[(v + 1) % ring.size()];
      Edge edge{from[1] * scale + shift, from[0] * scale + shift, to[1] * scale + shift,
                to[0] * scale + shift};
      shape.min_y = std::min(shape.min_y, edge.top_y);
      shape.max_y = std::max(shape.max_y, edge.top_y);
      shape.min_x = std::min(shape.min_x, edge.top_x);
      shape.max_x = std::max(shape.max_x, edge.top_x);
      if (edge.top_y == edge.bottom_y) continue;
      // Always from top to bottom, so that polygons with a common edge meet at exactly the same
      // numbers.
      if (edge.top_y > edge.bottom_y) {
        std::swap(edge.top_y, edge.bottom_y);
        std::swap(edge.top_x, edge.bottom_x);
      }
      shape.edges.push_back(edge);
    }
  }
  shapes_.push_back(std::move(shape));
}

void PolygonRaster::for_each_span(std::int64_t y0, std::int64_t x0, std::int64_t height,
                                  std::int64_t width,
                                  const std::function<void(const Span&)>& use) const {
  const std::int64_t y1 = y0 + height, x1 = x0 + width;
  std::vector<Crossing> crossings;
  for (const Shape& shape : shapes_) {
    if (shape.max_y < static_cast<double>(y0) || shape.min_y > static_cast<double>(y1) ||
        shape.max_x < static_cast<double>(x0) || shape.min_x > static_cast<double>(x1)) {
      continue;
    }
    crossings.clear();
    for (const Edge& edge : shape.edges) {
      const std::int64_t first = first_centre(edge.top_y, y0, y1),
                         end = first_centre(edge.bottom_y, y0, y1);
      for (std::int64_t y = first; y < end; ++y) {
        const double centre = static_cast<double>(y) + 0.5;
        const double x = edge.top_x + (centre - edge.top_y) * (edge.bottom_x - edge.top_x) /
                                          (edge.bottom_y - edge.top_y);
        crossings.push_back({y, x});
      }
    }
    std::sort(crossings.begin(), crossings.end());
    // Rings are closed, so every row has an even number of crossings.
    for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) {
      const std::int64_t left = first_centre(crossings[i].x, x0, x1),
                         right = first_centre(crossings[i + 1].x, x0, x1);
      if (left < right) use({crossings[i].row, left, right, shape.value});
    }
  }
}

}  // namespace headrace::pixels
