#include "learn/report/plane_picture.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/ignore_label.hpp"
#include "headrace/pixels/palette.hpp"

namespace headrace::report {
namespace {

constexpr double kTint = 0.4;
constexpr std::int64_t kLine = 2;  ///< width of an outline, inside the area that it surrounds

/// Place of a pixel of the picture in the plane.
struct Scaling {
  double step;  ///< plane pixels a picture pixel
  std::int64_t size, limit;

  Scaling(std::int64_t pixels, double mm, double mm_a_pixel)
      : step(mm_a_pixel / mm),
        size(std::max<std::int64_t>(1, std::llround(static_cast<double>(pixels) / step))),
        limit(pixels - 1) {}
  double at(std::int64_t i) const { return (static_cast<double>(i) + 0.5) * step - 0.5; }
  std::int64_t nearest(std::int64_t i) const {
    return std::clamp<std::int64_t>(std::llround(at(i)), 0, limit);
  }
};

float bilinear(const Plane& plane, double y, double x) {
  const double cy = std::clamp(y, 0.0, static_cast<double>(plane.height - 1));
  const double cx = std::clamp(x, 0.0, static_cast<double>(plane.width - 1));
  const auto y0 = static_cast<std::int64_t>(cy), x0 = static_cast<std::int64_t>(cx);
  const std::int64_t y1 = std::min(y0 + 1, plane.height - 1),
                     x1 = std::min(x0 + 1, plane.width - 1);
  const auto v = [&](std::int64_t r, std::int64_t c) {
    return plane.values[static_cast<std::size_t>(r * plane.width + c)];
  };
  const auto fy = static_cast<float>(cy - static_cast<double>(y0));
  const auto fx = static_cast<float>(cx - static_cast<double>(x0));
  return (v(y0, x0) * (1 - fx) + v(y0, x1) * fx) * (1 - fy) +
         (v(y1, x0) * (1 - fx) + v(y1, x1) * fx) * fy;
}

}  // namespace

pixels::Image8 plane_picture(const Plane& plane, std::int64_t longest_px) {
  const double longest_mm = std::max(static_cast<double>(plane.height) * plane.row_mm,
                                     static_cast<double>(plane.width) * plane.column_mm);
  const double mm_a_pixel = longest_mm / static_cast<double>(longest_px);
  const Scaling rows(plane.height, plane.row_mm, mm_a_pixel),
      columns(plane.width, plane.column_mm, mm_a_pixel);
  const auto label = [&](const std::vector<std::uint8_t>& labels, std::int64_t y, std::int64_t x) {
    if (labels.empty()) return std::uint8_t{0};
    return labels[static_cast<std::size_t>(rows.nearest(y) * plane.width + columns.nearest(x))];
  };
  const auto outlined = [&](std::int64_t y, std::int64_t x, std::uint8_t here) {
    for (std::int64_t d = 1; d <= kLine; ++d) {
      if ((y >= d && label(plane.truth, y - d, x) != here) ||
          (x >= d && label(plane.truth, y, x - d) != here) ||
          (y + d < rows.size && label(plane.truth, y + d, x) != here) ||
          (x + d < columns.size && label(plane.truth, y, x + d) != here))
        return true;
    }
    return false;
  };
  pixels::Image8 out(rows.size, columns.size, 3);
  for (std::int64_t y = 0; y < rows.size; ++y) {
    std::uint8_t* pixel = out.row(y);
    for (std::int64_t x = 0; x < columns.size; ++x, pixel += 3) {
      const double grey =
          255 *
          std::clamp(static_cast<double>(bilinear(plane, rows.at(y), columns.at(x))), 0.0, 1.0);
      const std::uint8_t truth = label(plane.truth, y, x), said = label(plane.predicted, y, x);
      const bool line = truth != 0 && truth != kIgnoreLabel && outlined(y, x, truth);
      const bool tint = said != 0 && said != kIgnoreLabel;
      const pixels::Rgb colour = pixels::class_colour(line ? truth : said);
      const double part = line ? 1 : tint ? kTint : 0;
      for (std::size_t c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(std::lround(grey * (1 - part) + colour[c] * part));
    }
  }
  return out;
}

}  // namespace headrace::report
