#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "headrace/math/hd.hpp"

namespace headrace::pixels {

/// Interleaved 8-bit RGB pixels.
struct RgbView {
  const std::uint8_t* base;  ///< pixel (0, 0)
  std::int64_t row_bytes;

  HR_HD const std::uint8_t* at(std::int64_t y, std::int64_t x) const {
    return base + y * row_bytes + 3 * x;
  }
};

/// The value of a pixel's darkest channel.
HR_HD std::int32_t darkest_of(const std::uint8_t* rgb) {
  const std::int32_t r = rgb[0], g = rgb[1], b = rgb[2];
  const std::int32_t lower = r < g ? r : g;
  return lower < b ? lower : b;
}
HR_HD std::int32_t brightest_of(const std::uint8_t* rgb) {
  const std::int32_t r = rgb[0], g = rgb[1], b = rgb[2];
  const std::int32_t higher = r > g ? r : g;
  return higher > b ? higher : b;
}

/// Ink of a pen: green beyond what any stain gives, or blue with less red than green.
HR_HD bool is_ink(const std::uint8_t* rgb) {
  const std::int32_t r = rgb[0], g = rgb[1], b = rgb[2];
  const bool green = g > r + 15 && g + 5 > b;
  const bool blue = g > r + 15 && b > r + 60;
  return green || blue;
}

/// Counts pixels by the value of their darkest channel.
struct DarkestCount {
  static constexpr std::int32_t kBins = 256, kNearFirst = 0, kNear = 256;
  RgbView image;
  std::int64_t height;
  std::int32_t width;
  std::uint64_t* counts;  ///< kBins, added to

  HR_HD std::int64_t items() const { return height; }
  HR_HD std::int32_t elements() const { return width; }
  HR_HD std::int32_t bin(std::int64_t y, std::int32_t x) const {
    return darkest_of(image.at(y, x));
  }
};

/// The same on the host, for pixels one after the other.
inline void count_darkest(const std::uint8_t* rgb, std::int64_t pixels,
                          std::array<std::uint64_t, DarkestCount::kBins>& counts) {
  for (std::int64_t i = 0; i < pixels; ++i) {
    ++counts[static_cast<std::size_t>(darkest_of(rgb + 3 * i))];
  }
}

}  // namespace headrace::pixels
