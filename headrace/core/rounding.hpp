#pragma once
#include <cmath>
#include <cstdint>

namespace headrace {

/// The least multiple of `unit` that is not below `value`. Neither is negative.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// To the nearest sixth decimal, halves away from 0, and never -0: what codes with values (notes,
/// remarks) hold, which is more than a sentence shows and fewer digits than those in which the
/// mathematical functions of two machines may differ.
inline double to_six_decimals(double value) {
  constexpr double kSteps = 1e6;
  return std::round(value * kSteps) / kSteps + 0.0;
}

}  // namespace headrace
