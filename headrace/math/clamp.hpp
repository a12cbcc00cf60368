#pragma once
#include <cstdint>

#include "headrace/math/lane.hpp"

namespace headrace::math {

/// Limits x to [low, high]. NaN gives low, on every back end (std::clamp, fminf and minps each
/// differ).
template <typename F>
HR_HD F clamp(F x, F low, F high) {
  return min_of(max_of(x, low), high);
}
template <typename F>
HR_HD F clamp_to(F x, float low, float high) {
  return clamp(x, Memory<F>::splat(low), Memory<F>::splat(high));
}

/// Limits an index to [0, last].
HR_HD std::int32_t clamp_index(std::int32_t i, std::int32_t last) {
  return i < 0 ? 0 : (i > last ? last : i);
}

/// Rounds down. `x` must lie in (-2^22, 2^22): clamp first.
HR_HD std::int32_t floor_to_int(float x) {
  const std::int32_t cut = to_int(x);
  return cut - (to_float(cut) > x ? 1 : 0);
}

}  // namespace headrace::math
