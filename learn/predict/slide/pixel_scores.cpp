#include "learn/predict/slide/pixel_scores.hpp"

#include <algorithm>

#include "headrace/pixels/entropy_table.hpp"
#include "learn/result/probability_byte.hpp"

namespace headrace::predict {

EntropySteps::EntropySteps(std::size_t classes) : table(pixels::entropy_table()) {
  const std::uint64_t most = pixels::most_entropy(classes);
  half = static_cast<double>(most / 2) + 0.5;
  inverse = most == 0 ? 0 : 1 / static_cast<double>(most);
}

void PixelScores::of(std::span<const float> probabilities, std::span<std::uint8_t> out) const {
  constexpr std::size_t kBlock = 1024;  // pixels; their sums stay in the cache
  const std::size_t pixels = probabilities.size() / classes_;
  std::array<std::uint32_t, kBlock> sums;
  for (std::size_t x0 = 0; x0 < pixels; x0 += kBlock) {
    const std::size_t count = std::min(kBlock, pixels - x0);
    std::fill_n(sums.data(), count, 0u);
    for (std::size_t c = 0; c < classes_; ++c) {
      const auto scores = out.subspan(c * pixels + x0, count);
      result::probability_bytes(probabilities.subspan(c * pixels + x0, count), scores);
      for (std::size_t x = 0; x < count; ++x) sums[x] += steps_.table[scores[x]];
    }
    // (255 · sum + most / 2) / most of whole numbers, rounded down. The quotient is a multiple of
    // 1/most above a whole number; the 0.5 in half lifts it off that, so that the last bit of a
    // product can't decide.
    const auto entropy = out.subspan(classes_ * pixels + x0, count);
    for (std::size_t x = 0; x < count; ++x) {
      const double sum = static_cast<std::int32_t>(sums[x]);
      const double steps = (sum * 255 + steps_.half) * steps_.inverse;
      entropy[x] = static_cast<std::uint8_t>(std::min(static_cast<std::int32_t>(steps), 255));
    }
  }
}

}  // namespace headrace::predict
