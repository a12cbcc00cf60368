#pragma once
#include <cstdint>
#include <vector>

#include "headrace/phantom/draws.hpp"

namespace headrace::phantom {

/// Smooth noise in [-1, 1] in three dimensions: random values on a grid of step 1, repeated every
/// 32, blended by smoothstep. Coordinates from -1024 on.
class NoiseVolume {
 public:
  explicit NoiseVolume(const Draws& draws);

  float operator()(float x, float y, float z) const {
    constexpr float kShift = 1024;  // makes truncation the floor; a multiple of the period
    const float sx = x + kShift, sy = y + kShift, sz = z + kShift;
    const auto ix = static_cast<std::int32_t>(sx), iy = static_cast<std::int32_t>(sy),
               iz = static_cast<std::int32_t>(sz);
    const float tx = ease(sx - static_cast<float>(ix)), ty = ease(sy - static_cast<float>(iy)),
                tz = ease(sz - static_cast<float>(iz));
    const float low = plane(iz, iy, ix, ty, tx), high = plane(iz + 1, iy, ix, ty, tx);
    return low + (high - low) * tz;
  }

 private:
  static constexpr std::int32_t kSize = 32, kMask = kSize - 1, kStride = kSize + 1;
  static float ease(float t) { return t * t * (3.0f - 2.0f * t); }

  float plane(std::int32_t z, std::int32_t y, std::int32_t x, float ty, float tx) const {
    const float* base = values_.data() + (z & kMask) * kSize * kStride + (x & kMask);
    const float *upper = base + (y & kMask) * kStride, *lower = base + ((y + 1) & kMask) * kStride;
    const float top = upper[0] + (upper[1] - upper[0]) * tx,
                bottom = lower[0] + (lower[1] - lower[0]) * tx;
    return top + (bottom - top) * ty;
  }

  std::vector<float> values_;  // one column more, so that the right neighbour is always beside
};

}  // namespace headrace::phantom
