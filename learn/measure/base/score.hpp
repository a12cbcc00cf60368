#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headrace::measure {

inline constexpr int kScoreSteps = 65535;  ///< of a probability of 1

/// A probability in steps of 1/65535, rounded to the nearest; values outside 0..1 become 0 or 1,
/// and NaN becomes 0.
inline std::uint16_t score_of(float probability) {
  if (!(probability > 0.0f)) return 0;
  return static_cast<std::uint16_t>(std::lround(std::min(probability, 1.0f) * float{kScoreSteps}));
}
inline double probability_of(std::uint16_t score) { return score / double{kScoreSteps}; }

}  // namespace headrace::measure
