#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::pixels {

/// A binary image, row-major: 1 is inside.
struct Mask {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;

  Mask() = default;
  Mask(std::int64_t h, std::int64_t w)
      : height(h), width(w), pixels(static_cast<std::size_t>(h * w)) {}
  std::uint8_t& at(std::int64_t y, std::int64_t x) {
    return pixels[static_cast<std::size_t>(y * width + x)];
  }
  std::uint8_t at(std::int64_t y, std::int64_t x) const {
    return pixels[static_cast<std::size_t>(y * width + x)];
  }
  std::int64_t count() const {
    std::int64_t sum = 0;
    for (const auto pixel : pixels) sum += pixel;
    return sum;
  }
};

}  // namespace headrace::pixels
