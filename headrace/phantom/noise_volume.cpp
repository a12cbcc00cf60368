#include "headrace/phantom/noise_volume.hpp"

namespace headrace::phantom {

NoiseVolume::NoiseVolume(const Draws& draws)
    : values_(static_cast<std::size_t>(kSize * kSize * kStride)) {
  for (std::int64_t row = 0; row < kSize * kSize; ++row) {
    float* values = values_.data() + row * kStride;
    for (std::int64_t x = 0; x < kSize; x += 4) {
      const auto words = draws.at(Purpose::noise_volume, row, x);
      for (int k = 0; k < 4; ++k) values[x + k] = between(words.v[k], -1.0f, 1.0f);
    }
    values[kSize] = values[0];
  }
}

}  // namespace headrace::phantom
