#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "headrace/core/geometry.hpp"

namespace headrace::imaging {

/// A row of `count` RGB pixels as opaque RGBA.
inline void opaque_rgba(const std::uint8_t* rgb, std::int64_t count, std::uint8_t* rgba) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint32_t kOpaque = 0xff000000;
  std::uint32_t pixel = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(&pixel, rgb + i * 3, i + 1 < count ? 4 : 3);  // a word, but not past the last pixel
    pixel |= kOpaque;
    std::memcpy(rgba + i * 4, &pixel, 4);
  }
}

/// Premultiplied ARGB words to RGBA bytes, in place; half-covered pixels are divided, and cut, as
/// openslide-python does it.
inline void argb_to_rgba(std::uint8_t* pixels, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t p = 0;
    std::memcpy(&p, pixels + i * 4, 4);
    const std::uint32_t alpha = p >> 24;
    std::uint32_t r = (p >> 16) & 255, g = (p >> 8) & 255, b = p & 255;
    if (alpha != 0 && alpha != 255) {
      r = 255 * r / alpha & 255;
      g = 255 * g / alpha & 255;
      b = 255 * b / alpha & 255;
    }
    p = r | g << 8 | b << 16 | alpha << 24;
    std::memcpy(pixels + i * 4, &p, 4);
  }
}

/// Reads RGBA rows of a region that may leave a picture of full_height × full_width pixels:
/// `inside(box, dst)` reads the part inside; the rest becomes transparent, (0, 0, 0, 0).
template <typename Inside>
void read_on_transparent(std::int64_t full_height, std::int64_t full_width, std::int64_t y0,
                         std::int64_t x0, std::int64_t height, std::int64_t width,
                         std::uint8_t* dst, const Inside& inside) {
  const std::int64_t top = std::clamp<std::int64_t>(y0, 0, full_height),
                     left = std::clamp<std::int64_t>(x0, 0, full_width);
  const Box2 box{top, left, std::clamp<std::int64_t>(y0 + height, top, full_height) - top,
                 std::clamp<std::int64_t>(x0 + width, left, full_width) - left};
  if (box.height != height || box.width != width)
    std::memset(dst, 0, static_cast<std::size_t>(height * width * 4));
  if (box.height > 0 && box.width > 0) inside(box, dst + ((top - y0) * width + left - x0) * 4);
}

}  // namespace headrace::imaging
