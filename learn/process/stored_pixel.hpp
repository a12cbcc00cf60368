#pragma once
#include <cstdint>
#include <variant>

#include "headrace/math/hd.hpp"

/// Passes between files and images in device memory, which put elements of stored blocks into their
/// places. One source for the host and a GPU; a call of operator() handles one pixel of one row.
namespace headrace::process {

/// Place of elements: byte 0, and the bytes from channel to channel, row to row, pixel to pixel.
template <typename Byte>
struct ElementsAt {
  Byte* data = nullptr;
  std::int64_t channel = 0, row = 0, pixel = 0;
};

/// Copies height × width pixels of some channels. Pixels beyond `stored_height` and `stored_width`
/// become zero.
struct PlacePixels {
  ElementsAt<const std::uint8_t> from;
  ElementsAt<std::uint8_t> to;
  std::int32_t channels = 1, item = 1;  ///< item: bytes of an element
  std::int32_t height = 0, width = 0, stored_height = 0, stored_width = 0;

  HR_HD std::int32_t rows() const { return height; }
  HR_HD std::int32_t elements() const { return width; }
  HR_HD void operator()(std::int32_t y, std::int32_t x) const {
    const bool inside = y < stored_height && x < stored_width;
    for (std::int32_t c = 0; c < channels; ++c) {
      std::uint8_t* dst = to.data + c * to.channel + y * to.row + x * to.pixel;
      const std::uint8_t* src = from.data + c * from.channel + y * from.row + x * from.pixel;
      for (std::int32_t k = 0; k < item; ++k) dst[k] = inside ? src[k] : std::uint8_t{0};
    }
  }
};

/// Sets *found to 1 where a byte is not zero. All calls write the same value, so their order does
/// not matter.
struct FindNonZero {
  static constexpr std::int64_t kRow = 1 << 20, kPiece = 16;
  const std::uint8_t* data = nullptr;  ///< at a multiple of 4
  std::int64_t size_bytes = 0;
  std::uint8_t* found = nullptr;

  HR_HD std::int32_t rows() const {
    return static_cast<std::int32_t>((size_bytes + kRow - 1) / kRow);
  }
  HR_HD std::int32_t elements() const { return kRow / kPiece; }
  HR_HD void operator()(std::int32_t row, std::int32_t piece) const {
    const std::int64_t begin = row * kRow + piece * kPiece;
    std::uint32_t any = 0;
    if (begin + kPiece <= size_bytes) {
      const auto* words = reinterpret_cast<const std::uint32_t*>(data + begin);
      any = words[0] | words[1] | words[2] | words[3];
    } else {
      for (std::int64_t i = begin; i < size_bytes; ++i) any |= data[i];
    }
    if (any != 0) *found = 1;
  }
};

using StoredPass = std::variant<PlacePixels, FindNonZero>;

}  // namespace headrace::process
