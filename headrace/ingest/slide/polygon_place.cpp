#include "headrace/ingest/slide/polygon_place.hpp"

#include <algorithm>
#include <limits>

namespace headrace::ingest {
namespace {

/// Outlines that follow the edge of a picture may pass it by a pixel.
constexpr double kEdge = 1;

struct Reach {
  double left = std::numeric_limits<double>::infinity(), top = left, right = -left, bottom = -left;

  explicit Reach(const std::vector<imaging::AnnotatedPolygon>& polygons) {
    for (const auto& polygon : polygons) {
      for (const auto& place : polygon.rings.front()) {
        left = std::min(left, place[0]);
        top = std::min(top, place[1]);
        right = std::max(right, place[0]);
        bottom = std::max(bottom, place[1]);
      }
    }
  }
  /// Pixels by which they reach out of a box.
  double out_of(const Box2& box) const {
    const auto y0 = static_cast<double>(box.y0), x0 = static_cast<double>(box.x0);
    const double y1 = y0 + static_cast<double>(box.height);
    const double x1 = x0 + static_cast<double>(box.width);
    return std::max({0.0, x0 - left, y0 - top, right - x1, bottom - y1});
  }
};

bool are_of_canvas(const Reach& reach, const SlideCanvas& canvas) {
  const Box2& scan = *canvas.scan;
  const double out_of_scan = reach.out_of({0, 0, scan.height, scan.width});
  return out_of_scan > kEdge &&
         reach.out_of({0, 0, canvas.size.height, canvas.size.width}) <= kEdge &&
         reach.out_of(scan) < out_of_scan;
}

}  // namespace

PolygonOrigin place_polygons(std::vector<imaging::AnnotatedPolygon>& polygons,
                             const SlideCanvas& canvas) {
  if (!canvas.scan || polygons.empty()) return PolygonOrigin::whole;
  const auto y = static_cast<double>(canvas.scan->y0), x = static_cast<double>(canvas.scan->x0);
  if (y == 0 && x == 0) return PolygonOrigin::whole;  // both count from the same pixel
  if (are_of_canvas(Reach(polygons), canvas)) return PolygonOrigin::canvas;
  for (auto& polygon : polygons) {
    for (auto& ring : polygon.rings) {
      for (auto& place : ring) {
        place[0] += x;
        place[1] += y;
      }
    }
  }
  return PolygonOrigin::scan;
}

}  // namespace headrace::ingest
