#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/slide/geojson.hpp"

namespace headrace::imaging {
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

PolygonRaster::PolygonRaster(const std::vector<AnnotatedPolygon>& polygons,
                             const std::vector<std::uint8_t>& values, double scale) {
  if (polygons.size() != values.size()) {
    fail(ErrorCode::usage, "{} polygons and {} values; each polygon needs one", polygons.size(),
         values.size());
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    Shape shape{kInfinity, kInfinity, -kInfinity, -kInfinity, values[i], {}};
    for (const Ring& ring : polygons[i].rings) {
      for (std::size_t v = 0; v < ring.size(); ++v) {
        const auto& from = ring[v];
        const auto& to = ring[(v + 1) % ring.size()];
        Edge edge{from[1] * scale, from[0] * scale, to[1] * scale, to[0] * scale};
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
}

void PolygonRaster::paint(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                          std::uint8_t* dst, std::int64_t stride) const {
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
      if (right <= left) continue;
      std::memset(dst + (crossings[i].row - y0) * stride + (left - x0), shape.value,
                  static_cast<std::size_t>(right - left));
    }
  }
}

void rasterize(const std::vector<AnnotatedPolygon>& polygons,
               const std::vector<std::uint8_t>& values, double scale, std::int64_t y0,
               std::int64_t x0, std::int64_t height, std::int64_t width, std::uint8_t* dst,
               std::int64_t row_stride_bytes) {
  PolygonRaster(polygons, values, scale).paint(y0, x0, height, width, dst, row_stride_bytes);
}

}  // namespace headrace::imaging
