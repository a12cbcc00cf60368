#pragma once
#include <cstdint>

#include "headrace/math/bilinear.hpp"
#include "headrace/math/normal.hpp"

namespace headrace::transform {

/// The random stream of one sample's noise: key and the two counter words that are the same for all
/// pixels.
struct NoiseStream {
  std::uint32_t key0, key1, counter2, counter3;
};

/// Four normal deviates of Philox block `first` + lane of a row.
template <typename F>
HR_HD math::Normal4<F> noise_of(const NoiseStream& stream, std::int32_t row, std::uint32_t first,
                                math::UintOf<F> lane) {
  const math::UintOf<F> zero = lane ^ lane;
  const math::Philox4Of<math::UintOf<F>> counter{{lane + first,
                                                  zero + static_cast<std::uint32_t>(row),
                                                  zero + stream.counter2, zero + stream.counter3}};
  return math::normals_of<F>(math::philox4x32_10(counter, stream.key0, stream.key1));
}

/// Normal deviates of pixels in groups of 32 along a row: 32 pixels × 3 channels are 96 deviates,
/// 24 Philox blocks. Block `8·b + l` of a group holds deviates 4·b … 4·b + 3 of lane l; deviate n =
/// 3·s + channel of lane l is pixel 8·s + l.
template <typename F>
HR_HD math::Normal4<F> noise_block(const NoiseStream& stream, std::int32_t row, std::int32_t group,
                                   std::int32_t b, math::UintOf<F> lane) {
  return noise_of<F>(stream, row, static_cast<std::uint32_t>(group * 24 + b * 8), lane);
}

/// The three deviates of one pixel, computed alone; equal to those of noise_block for its group.
HR_HD math::Rgb<float> noise_at(const NoiseStream& stream, std::int32_t row, std::int32_t column) {
  const std::int32_t group = column >> 5, s = (column >> 3) & 3;
  float v[3];
  for (int channel = 0; channel < 3; ++channel) {
    const int n = 3 * s + channel;
    v[channel] =
        noise_block<float>(stream, row, group, n >> 2, static_cast<std::uint32_t>(column & 7))
            .v[n & 3];
  }
  return {v[0], v[1], v[2]};
}

}  // namespace headrace::transform
