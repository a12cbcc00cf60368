#pragma once
#include <cstdint>

#include "headrace/pixels/passes/rgb.hpp"

/// Masks of one byte a pixel, 0 or 1, row-major without gaps.
namespace headrace::pixels {

/// Marks pixels that are not glass, and those of them that are ink of a pen; counts both.
struct TissueCount {
  static constexpr std::int32_t kBins = 3, kNearFirst = 0, kNear = 3;
  RgbView image;
  std::int64_t height;
  std::int32_t width;
  std::int32_t highest;  ///< value of the darkest channel that is not glass
  std::uint8_t *dense, *ink;
  std::uint64_t* counts;  ///< glass, neither glass nor ink, ink; added to

  HR_HD std::int64_t items() const { return height; }
  HR_HD std::int32_t elements() const { return width; }
  HR_HD std::int32_t bin(std::int64_t y, std::int32_t x) const {
    const std::uint8_t* rgb = image.at(y, x);
    const std::int64_t at = y * width + x;
    const bool is_dense = darkest_of(rgb) <= highest, marked = is_dense && is_ink(rgb);
    dense[at] = is_dense ? 1 : 0;
    ink[at] = marked ? 1 : 0;
    return is_dense ? (marked ? 2 : 1) : 0;
  }
};

/// Along rows or columns: `hit` where a pixel within `radius` equals `wanted`, else its opposite.
/// Pixels outside the image equal nothing.
struct SpreadPixel {
  const std::uint8_t* src;
  std::uint8_t* dst;
  std::int64_t height;
  std::int32_t width, radius;
  std::uint8_t wanted, hit;
  bool columns;

  HR_HD std::int64_t items() const { return height; }
  HR_HD std::int32_t elements() const { return width; }
  HR_HD void operator()(std::int64_t y, std::int32_t x) const {
    const std::int64_t place = columns ? y : x, end = columns ? height : width;
    const std::int64_t stride = columns ? width : 1;
    const std::uint8_t* centre = src + y * width + x;
    const std::int64_t first = place < radius ? -place : -radius;
    const std::int64_t last = end - 1 - place < radius ? end - 1 - place : radius;
    bool found = false;
    for (std::int64_t n = first; n <= last; ++n) found = found || centre[n * stride] == wanted;
    dst[y * width + x] = found ? hit : static_cast<std::uint8_t>(1 - hit);
  }
};

/// Clears a mask where another is set, and counts the pixels of the other.
struct ClearedCount {
  static constexpr std::int32_t kBins = 2, kNearFirst = 0, kNear = 2;
  std::uint8_t* mask;
  const std::uint8_t* other;
  std::int64_t height;
  std::int32_t width;
  std::uint64_t* counts;  ///< clear and set pixels of `other`; added to

  HR_HD std::int64_t items() const { return height; }
  HR_HD std::int32_t elements() const { return width; }
  HR_HD std::int32_t bin(std::int64_t y, std::int32_t x) const {
    const std::int64_t at = y * width + x;
    if (other[at] == 0) return 0;
    mask[at] = 0;
    return 1;
  }
};

}  // namespace headrace::pixels
