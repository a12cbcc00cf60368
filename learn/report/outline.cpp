#include "learn/report/outline.hpp"

#include <algorithm>

#include "headrace/core/ignore_label.hpp"
#include "headrace/pixels/palette.hpp"

namespace headrace::report {

pixels::Image8 outlined(const pixels::Image8& rgb, std::span<const std::uint8_t> labels) {
  constexpr std::int64_t kLine = 2;
  pixels::Image8 out = rgb;
  const auto at = [&](std::int64_t y, std::int64_t x) {
    return labels[static_cast<std::size_t>(y * rgb.width + x)];
  };
  const auto differs = [&](std::int64_t y, std::int64_t x, std::uint8_t label) {
    return y >= 0 && x >= 0 && y < rgb.height && x < rgb.width && at(y, x) != label;
  };
  for (std::int64_t y = 0; y < rgb.height; ++y) {
    for (std::int64_t x = 0; x < rgb.width; ++x) {
      const std::uint8_t label = at(y, x);
      if (label == 0 || label == kIgnoreLabel) continue;
      bool line = false;
      for (std::int64_t d = 1; d <= kLine && !line; ++d)
        line = differs(y - d, x, label) || differs(y + d, x, label) || differs(y, x - d, label) ||
               differs(y, x + d, label);
      if (!line) continue;
      const pixels::Rgb colour = pixels::class_colour(label);
      std::copy(colour.begin(), colour.end(), out.row(y) + x * 3);
    }
  }
  return out;
}

}  // namespace headrace::report
