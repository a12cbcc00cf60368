#include "headrace/pixels/average.hpp"

namespace headrace::pixels {
namespace {

/// One output row of pixels that have both columns; `below` is `above` where the image has no
/// second row.
template <int kChannels>
void average_rows(const std::uint8_t* above, const std::uint8_t* below, std::int64_t pairs,
                  std::uint8_t* dst) {
  for (std::int64_t x = 0; x < pairs; ++x) {
    for (int c = 0; c < kChannels; ++c) {
      const auto i = 2 * kChannels * x + c;
      const int sum = above[i] + above[i + kChannels] + below[i] + below[i + kChannels];
      dst[kChannels * x + c] = static_cast<std::uint8_t>((sum + 2) >> 2);
    }
  }
}

}  // namespace

void average_2x2(const std::uint8_t* src, std::int64_t height, std::int64_t width, int channels,
                 std::int64_t src_stride_bytes, std::uint8_t* dst, std::int64_t dst_stride_bytes) {
  const std::int64_t pairs = width / 2;
  for (std::int64_t y = 0; y < height; y += 2) {
    const std::uint8_t* above = src + y * src_stride_bytes;
    // Doubling the only row gives (2a + 2b + 2) >> 2 = (a + b + 1) >> 1.
    const std::uint8_t* below = y + 1 < height ? above + src_stride_bytes : above;
    std::uint8_t* out = dst + y / 2 * dst_stride_bytes;
    if (channels == 3) {
      average_rows<3>(above, below, pairs, out);
    } else if (channels == 2) {
      average_rows<2>(above, below, pairs, out);
    } else {
      average_rows<1>(above, below, pairs, out);
    }
    if (width % 2 != 0) {
      for (int c = 0; c < channels; ++c) {
        const auto i = (width - 1) * channels + c;
        out[pairs * channels + c] = static_cast<std::uint8_t>((above[i] + below[i] + 1) >> 1);
      }
    }
  }
}

}  // namespace headrace::pixels
