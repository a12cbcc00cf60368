#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace headrace::pixels {

/// One closed ring of (x, y) vertices; the last one is joined with the first. The centre of pixel
/// (0, 0) is (0.5, 0.5).
using Ring = std::vector<std::array<double, 2>>;

/// Polygons prepared to be painted window by window: an edge is visited only where its polygon's
/// box meets the window. Adding: one thread; painting: safe from any thread.
class PolygonRaster {
 public:
  /// The next polygon, painted over those before it: the area by the even-odd rule over all of its
  /// rings, so that a ring within another is a hole. Coordinates are multiplied by `scale`, then
  /// `shift` is added.
  void add(const std::vector<Ring>& rings, std::uint16_t value, double scale = 1, double shift = 0);

  /// Paints rows [y0, y0 + height), columns [x0, x0 + width) into dst, whose rows are `row_stride`
  /// elements apart: pixels whose centre is inside (left and upper edges belong to a polygon) get
  /// the polygon's value; others stay.
  template <typename T>
  void paint(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width, T* dst,
             std::int64_t row_stride) const {
    for_each_span(y0, x0, height, width, [&](const Span& span) {
      T* row = dst + (span.y - y0) * row_stride - x0;
      std::fill(row + span.left, row + span.right, static_cast<T>(span.value));
    });
  }

 private:
  struct Edge {
    double top_y, top_x, bottom_y, bottom_x;
  };
  struct Shape {
    double min_y, min_x, max_y, max_x;
    std::uint16_t value;
    std::vector<Edge> edges;
  };
  struct Span {
    std::int64_t y, left, right;
    std::uint16_t value;
  };
  void for_each_span(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                     const std::function<void(const Span&)>& use) const;

  std::vector<Shape> shapes_;
};

}  // namespace headrace::pixels
