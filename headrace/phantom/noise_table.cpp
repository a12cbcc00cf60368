#include "headrace/phantom/noise_table.hpp"

namespace headrace::phantom {

NoiseTable::NoiseTable(const Draws& draws) : values_(static_cast<std::size_t>(kSize * kStride)) {
  for (std::int64_t y = 0; y < kSize; ++y) {
    float* row = values_.data() + y * kStride;
    for (std::int64_t x = 0; x < kSize; x += 4) {
      const auto words = draws.at(Purpose::noise_table, x, y);
      for (int k = 0; k < 4; ++k) row[x + k] = between(words.v[k], -1.0f, 1.0f);
    }
    row[kSize] = row[0];
  }
}

}  // namespace headrace::phantom
