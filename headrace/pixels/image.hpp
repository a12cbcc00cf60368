#pragma once
#include <cstdint>
#include <vector>

namespace headrace::pixels {

/// Pixels in memory, (y, x, c) interleaved, row-major, no padding.
template <typename T>
struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<T> pixels;

  Image() = default;
  Image(std::int64_t h, std::int64_t w, std::int64_t c)
      : height(h), width(w), channels(c), pixels(static_cast<std::size_t>(h * w * c)) {}
  T* row(std::int64_t y) { return pixels.data() + y * width * channels; }
  const T* row(std::int64_t y) const { return pixels.data() + y * width * channels; }
};

using Image8 = Image<std::uint8_t>;

}  // namespace headrace::pixels
