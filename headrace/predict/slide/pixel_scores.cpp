#include "headrace/predict/slide/pixel_scores.hpp"

#include <algorithm>

#include "headrace/pixels/entropy_table.hpp"

namespace headrace::predict {

PixelScores::PixelScores(std::size_t classes)
    : classes_(classes), table_(pixels::entropy_table()), most_(pixels::most_entropy(classes)) {}

std::span<const std::uint8_t> PixelScores::of(std::span<const float> probabilities) {
  const std::size_t pixels = probabilities.size() / classes_;
  sums_.assign(pixels, 0);
  scores_.resize(probabilities.size() + pixels);
  for (std::size_t c = 0; c < classes_; ++c) {
    for (std::size_t x = 0; x < pixels; ++x) {
      const std::uint8_t score = probability_byte(probabilities[c * pixels + x]);
      scores_[c * pixels + x] = score;
      sums_[x] += table_[score];
    }
  }
  std::uint8_t* entropy = scores_.data() + probabilities.size();
  for (std::size_t x = 0; x < pixels; ++x) {
    const std::uint64_t steps = most_ == 0 ? 0 : (sums_[x] * 255ull + most_ / 2) / most_;
    entropy[x] = static_cast<std::uint8_t>(std::min<std::uint64_t>(steps, 255));
  }
  return scores_;
}

}  // namespace headrace::predict
