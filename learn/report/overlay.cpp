#include "learn/report/overlay.hpp"

#include "headrace/core/ignore_label.hpp"
#include "headrace/pixels/palette.hpp"

namespace headrace::report {
namespace {

constexpr int kTintPercent = 32;

std::uint8_t mix(std::uint8_t base, std::uint8_t tint, int percent) {
  return static_cast<std::uint8_t>((base * (100 - percent) + tint * percent) / 100);
}

}  // namespace

pixels::Image8 overlay(const pixels::Image8& rgb, std::span<const std::uint8_t> labels) {
  pixels::Image8 out = rgb;
  const auto at = [&](std::int64_t y, std::int64_t x) {
    return labels[static_cast<std::size_t>(y * rgb.width + x)];
  };
  for (std::int64_t y = 0; y < rgb.height; ++y) {
    for (std::int64_t x = 0; x < rgb.width; ++x) {
      const std::uint8_t label = at(y, x);
      std::uint8_t* pixel = out.row(y) + x * 3;
      if (label == 0) continue;
      if (label == kIgnoreLabel) {
        for (int c = 0; c < 3; ++c) pixel[c] = mix(pixel[c], 210, 60);
        continue;
      }
      const bool border = (x > 0 && at(y, x - 1) != label) || (y > 0 && at(y - 1, x) != label) ||
                          (x + 1 < rgb.width && at(y, x + 1) != label) ||
                          (y + 1 < rgb.height && at(y + 1, x) != label);
      const pixels::Rgb colour = pixels::class_colour(label);
      for (std::size_t c = 0; c < 3; ++c)
        pixel[c] = mix(pixel[c], colour[c], border ? 100 : kTintPercent);
    }
  }
  return out;
}

}  // namespace headrace::report
