#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace headrace::imaging {

/// Decoded samples of a tile, a strip or some rows of one, one plane after the other where planar.
struct TiffBlock {
  std::vector<std::uint8_t> bytes;
  std::int64_t row_bytes = 0, plane_bytes = 0;
  std::uint64_t missing = 0;  ///< planes that the file does not store, one bit each: samples of 0

  bool lacks(int plane) const noexcept { return (missing >> std::min(plane, 63) & 1) != 0; }
  void mark_missing(int plane) noexcept { missing |= std::uint64_t{1} << std::min(plane, 63); }
};

}  // namespace headrace::imaging
