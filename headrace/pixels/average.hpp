#pragma once
#include <cstdint>

namespace headrace::pixels {

/// Area-averages 2×2 pixels of `src` into `dst`: (sum + 2) >> 2; at an odd edge the mean of the two
/// that exist, (sum + 1) >> 1, and in the corner the pixel itself. Pixels are interleaved, of 1 to 3
/// channels; dst has
/// ceil(height / 2) rows of ceil(width / 2) pixels, and may be `src` itself where its rows are at
/// most as long.
void average_2x2(const std::uint8_t* src, std::int64_t height, std::int64_t width, int channels,
                 std::int64_t src_stride_bytes, std::uint8_t* dst, std::int64_t dst_stride_bytes);

}  // namespace headrace::pixels
