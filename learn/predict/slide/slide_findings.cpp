#include "learn/predict/slide/slide_findings.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::predict {
namespace {

double mean_of(std::uint64_t sum, std::uint64_t pixels) {
  return static_cast<double>(sum) / (255 * static_cast<double>(pixels));
}

}  // namespace

double SlideRegion::mean_probability(std::size_t c) const {
  return mean_of(probability_sums[c], pixels);
}

double SlideRegion::mean_entropy() const { return mean_of(entropy_sum, pixels); }

double SlideFindings::tumour_length_px() const {
  double sum = 0;
  for (const TissuePiece& piece : pieces)
    sum += std::sqrt(static_cast<double>(piece.squared_length_px));
  return sum;
}

double SlideFindings::longest_tumour_px() const {
  std::uint64_t most = 0;
  for (const TissuePiece& piece : pieces) most = std::max(most, piece.squared_length_px);
  return std::sqrt(static_cast<double>(most));
}

std::uint64_t SlideFindings::foci() const {
  std::uint64_t sum = 0;
  for (const TissuePiece& piece : pieces) sum += piece.foci;
  return sum;
}

}  // namespace headrace::predict
