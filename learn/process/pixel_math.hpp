#pragma once
#include <cstdint>

#include "headrace/math/colour.hpp"
#include "learn/process/tile_kernel.hpp"

namespace headrace::process {

/// Index inside 0 … count - 1 that replaces `i`: the image is mirrored at its edges, the edge pixel
/// repeated (mode "reflect" of SciPy and scikit-image).
HR_HD std::int64_t reflected(std::int64_t i, std::int64_t count) {
  if (i >= 0 && i < count) return i;
  const std::int64_t period = 2 * count;
  std::int64_t j = i % period;
  if (j < 0) j += period;
  return j < count ? j : period - 1 - j;
}

inline constexpr float kFraction = 1.0f / 255.0f;

/// Luminance of an 8-bit colour as a fraction of full range.
///
/// source  0.2125 R + 0.7154 G + 0.0721 B, as skimage.color.rgb2gray (Poynton, Color FAQ, 1997)
/// range   in 0..255, out 0..1; error 1.2e-7 against float64
template <typename F>
HR_HD F luminance(F r, F g, F b) {
  return (r * 0.2125f + (g * 0.7154f + b * 0.0721f)) * kFraction;
}

/// A channel of a pixel as a fraction of full range.
HR_HD float fraction_of(std::uint8_t channel) { return static_cast<float>(channel) * kFraction; }
/// Luminance of a pixel of one channel, or of three.
HR_HD float luminance_of(const std::uint8_t* p, std::int32_t channels) {
  if (channels == 1) return fraction_of(p[0]);
  return luminance(static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]));
}

/// Magnitude of the Sobel gradient of a 3×3 neighbourhood, rows a b c, d e f, g h i.
///
/// source  sqrt((gy² + gx²) / 2), gx and gy with weights [1 2 1] / 4 × [1 0 -1]: what
///         skimage.filters.sobel gives
/// range   in 0..1, out 0..1; error 6e-7 against float64 (Process.SobelMatchesDouble)
/// NaN     never
template <typename F>
HR_HD F sobel_of(F a, F b, F c, F d, F f, F g, F h, F i) {
  const F left = (a + g) + (d + d), right = (c + i) + (f + f);
  const F top = (a + c) + (b + b), bottom = (g + i) + (h + h);
  const F x = right - left, y = bottom - top;
  return math::sqrt_of((x * x + y * y) * 0.03125f);
}

/// Sum of two neighbours at the same distance, weighted and added to the sum of nearer ones.
template <typename F>
HR_HD F gaussian_step(F sum, F before, F after, float weight) {
  return sum + (before + after) * weight;
}
/// Weighted sum of at(0) and its neighbours at(-n) and at(n), from the nearest outwards. Two
/// distances to a turn: where a pack is wider than a register, compilers keep the sum in memory
/// from turn to turn.
template <typename At>
HR_HD auto gaussian_sum(const float* weights, std::int32_t radius, const At& at) {
  auto sum = at(0) * weights[0];
  std::int32_t n = 1;
  for (; n < radius; n += 2) {
    const auto nearer = gaussian_step(sum, at(-n), at(n), weights[n]);
    sum = gaussian_step(nearer, at(-n - 1), at(n + 1), weights[n + 1]);
  }
  if (n == radius) sum = gaussian_step(sum, at(-n), at(n), weights[n]);
  return sum;
}

/// Amounts of stain: the map `a` of log2(v + 1), v limited to 0..255.
template <typename F>
HR_HD math::Rgb<F> stain_amounts(const math::Colour34& a, const math::Rgb<F>& v) {
  return math::affine_rgb(a, math::Rgb<F>{math::log2_of(v.r + 1.0f), math::log2_of(v.g + 1.0f),
                                          math::log2_of(v.b + 1.0f)});
}

/// Rounded half up and limited to 0 … limit.
template <typename F>
HR_HD math::IntOf<F> rounded(F value, float scale, float limit) {
  return math::to_int(math::clamp_to(value * scale + 0.5f, 0.0f, limit + 0.5f));
}

/// Whether the darkest channel is at most the threshold.
HR_HD std::uint8_t mask_of(std::int32_t r, std::int32_t g, std::int32_t b, std::int32_t threshold) {
  const std::int32_t rg = r < g ? r : g;
  return (rg < b ? rg : b) <= threshold ? 1 : 0;
}

}  // namespace headrace::process
