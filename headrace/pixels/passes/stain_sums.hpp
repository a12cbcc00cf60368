#pragma once
#include <cstdint>

#include "headrace/pixels/passes/rgb.hpp"

namespace headrace::pixels {

/// The rule by which pixels count as stained, and their optical density (OD).
struct StainRule {
  std::uint32_t od[256];  ///< of an 8-bit value, in units of 2^-13
  std::int32_t limit;     ///< stained: below it …
  std::int32_t any;       ///< … where 1 the darkest channel, else all of them
};

inline constexpr std::int32_t kStainBins = 1 << 18;  ///< of colour: 6 bits a channel, R highest
inline constexpr std::int32_t kStainMoments = 10;
/// All sums of an image: pixels, Σ od (r, g, b), Σ od·od (rr, rg, rb, gg, gb, bb), then for every
/// colour bin its pixels and Σ od (r, g, b).
inline constexpr std::int64_t kStainTotals = kStainMoments + 4 * std::int64_t{kStainBins};

struct StainSample {
  std::int32_t bin;        ///< of its colour; -1: the pixel is not stained
  std::uint32_t value[3];  ///< OD of r, g, b; below 2^15, so that the sum over a warp fits
};

HR_HD StainSample stain_sample(const StainRule& rule, const std::uint8_t* rgb) {
  const std::int32_t deciding = rule.any != 0 ? darkest_of(rgb) : brightest_of(rgb);
  if (deciding >= rule.limit) return {-1, {0, 0, 0}};
  return {(rgb[0] >> 2) << 12 | (rgb[1] >> 2) << 6 | rgb[2] >> 2,
          {rule.od[rgb[0]], rule.od[rgb[1]], rule.od[rgb[2]]}};
}

/// Adds a stained pixel to kStainMoments sums.
HR_HD void add_moments(const StainSample& sample, std::uint64_t* sums) {
  const std::uint64_t r = sample.value[0], g = sample.value[1], b = sample.value[2];
  sums[0] += 1;
  sums[1] += r;
  sums[2] += g;
  sums[3] += b;
  sums[4] += r * r;
  sums[5] += r * g;
  sums[6] += r * b;
  sums[7] += g * g;
  sums[8] += g * b;
  sums[9] += b * b;
}

/// A mask of an image: pixel (y, x) of the image lies in (y / scale, x / scale) of the mask; the
/// last row and column reach to the image's end.
struct MaskView {
  const std::uint8_t* pixels;  ///< null: every pixel counts
  std::int64_t height, width, scale;

  HR_HD bool has(std::int64_t y, std::int64_t x) const {
    if (pixels == nullptr) return true;
    const std::int64_t row = y / scale, column = x / scale;
    return pixels[(row < height ? row : height - 1) * width +
                  (column < width ? column : width - 1)] != 0;
  }
};

/// Adds the stained pixels of some blocks of an area to kStainTotals sums. It takes `chosen` evenly
/// spread blocks of all, row by row; those at an edge are smaller.
struct StainSums {
  static constexpr std::int32_t kSums = kStainMoments, kValues = 3;
  RgbView image;               ///< (0, 0) is pixel (y0, x0) of the mask's image
  std::int64_t height, width;  ///< of the area
  std::int64_t y0, x0;
  MaskView mask;
  std::int64_t blocks, across, chosen;
  std::int32_t edge;      ///< of a block
  std::uint64_t* totals;  ///< added to
  StainRule rule;

  HR_HD std::int64_t items() const { return chosen * edge; }
  HR_HD std::int32_t elements() const { return edge; }
  HR_HD StainSample sample(std::int64_t item, std::int32_t element) const {
    const std::int64_t block = item / edge * blocks / chosen;
    const std::int64_t y = block / across * edge + item % edge, x = block % across * edge + element;
    if (y >= height || x >= width || !mask.has(y0 + y, x0 + x)) return {-1, {0, 0, 0}};
    return stain_sample(rule, image.at(y, x));
  }
  HR_HD static void add(const StainSample& sample, std::uint64_t* sums) {
    add_moments(sample, sums);
  }
};

}  // namespace headrace::pixels
