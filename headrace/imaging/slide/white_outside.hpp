#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace headrace::imaging {

inline void fill_white(std::uint8_t* dst, std::int64_t height, std::int64_t width,
                       std::int64_t stride) {
  for (std::int64_t y = 0; y < height; ++y)
    std::memset(dst + y * stride, 255, static_cast<std::size_t>(width * 3));
}

/// Reads RGB rows of a region that may leave a picture of full_height × full_width pixels:
/// `inside(y, x, height, width, dst)` reads the part inside; the rest becomes white.
template <typename Inside>
void read_on_white(std::int64_t full_height, std::int64_t full_width, std::int64_t y0,
                   std::int64_t x0, std::int64_t height, std::int64_t width, std::uint8_t* dst,
                   std::int64_t stride, const Inside& inside) {
  const std::int64_t top = std::clamp<std::int64_t>(y0, 0, full_height),
                     left = std::clamp<std::int64_t>(x0, 0, full_width);
  const std::int64_t bottom = std::clamp<std::int64_t>(y0 + height, top, full_height);
  const std::int64_t right = std::clamp<std::int64_t>(x0 + width, left, full_width);
  if (bottom - top != height || right - left != width) fill_white(dst, height, width, stride);
  if (bottom == top || right == left) return;
  inside(top, left, bottom - top, right - left, dst + (top - y0) * stride + (left - x0) * 3);
}

}  // namespace headrace::imaging
