#pragma once
#include <cstdint>
#include <vector>

#include "headrace/phantom/draws.hpp"

namespace headrace::phantom {

/// Smooth noise in [-1, 1]: random values on a grid of step 1, repeated every 256, blended by
/// smoothstep. Coordinates from -1,000,000 on.
class NoiseTable {
 public:
  explicit NoiseTable(const Draws& draws);

  float operator()(double x, double y) const {
    constexpr double kShift = 1048576.0;  // makes truncation the floor; a multiple of the period
    const double sx = x + kShift, sy = y + kShift;
    const auto ix = static_cast<std::int64_t>(sx), iy = static_cast<std::int64_t>(sy);
    const float tx = ease(static_cast<float>(sx - static_cast<double>(ix)));
    const float ty = ease(static_cast<float>(sy - static_cast<double>(iy)));
    const float* upper = values_.data() + (iy & kMask) * kStride + (ix & kMask);
    const float* lower = values_.data() + ((iy + 1) & kMask) * kStride + (ix & kMask);
    const float top = upper[0] + (upper[1] - upper[0]) * tx,
                bottom = lower[0] + (lower[1] - lower[0]) * tx;
    return top + (bottom - top) * ty;
  }

 private:
  static constexpr std::int64_t kSize = 256, kMask = kSize - 1, kStride = kSize + 1;
  static float ease(float t) { return t * t * (3.0f - 2.0f * t); }

  std::vector<float> values_;  // one column more, so that the right neighbour is always beside
};

}  // namespace headrace::phantom
