#include "headrace/pixels/tissue/morphology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::pixels {
namespace {

/// One line: out[i] is 1 where a pixel within `radius` equals `wanted`.
void spread_line(const std::uint8_t* src, std::uint8_t* dst, std::int64_t count,
                 std::int64_t stride, int radius, std::uint8_t wanted) {
  std::int64_t inside = 0;
  const auto hit = [&](std::int64_t i) { return i < count && src[i * stride] == wanted ? 1 : 0; };
  for (std::int64_t i = 0; i < radius; ++i) inside += hit(i);
  for (std::int64_t i = 0; i < count; ++i) {
    inside += hit(i + radius);
    if (i > radius) inside -= hit(i - radius - 1);
    dst[i * stride] = inside > 0 ? 1 : 0;
  }
}

/// 1 where a pixel of the square equals `wanted`.
Mask spread(const Mask& mask, int radius, std::uint8_t wanted) {
  Mask rows(mask.height, mask.width), both(mask.height, mask.width);
  for (std::int64_t y = 0; y < mask.height; ++y) {
    const auto at = static_cast<std::size_t>(y * mask.width);
    spread_line(&mask.pixels[at], &rows.pixels[at], mask.width, 1, radius, wanted);
  }
  for (std::int64_t x = 0; x < mask.width; ++x) {
    const auto at = static_cast<std::size_t>(x);
    spread_line(&rows.pixels[at], &both.pixels[at], mask.height, mask.width, radius, 1);
  }
  return both;
}

}  // namespace

Mask dilate(const Mask& mask, int radius) { return spread(mask, radius, 1); }

Mask erode(const Mask& mask, int radius) {
  Mask outside = spread(mask, radius, 0);
  for (auto& pixel : outside.pixels) pixel = static_cast<std::uint8_t>(1 - pixel);
  return outside;
}

}  // namespace headrace::pixels
