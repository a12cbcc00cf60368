#include "headrace/pixels/quality/ink.hpp"

#include <algorithm>
#include <array>

#include "headrace/pixels/passes/rgb.hpp"
#include "headrace/pixels/tissue/morphology.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"

namespace headrace::pixels {
namespace {

constexpr int kBlackBelow = 80, kGreyWithin = 25;

bool is_black(const std::uint8_t* rgb) {
  const int highest = brightest_of(rgb);
  return highest < kBlackBelow && highest - darkest_of(rgb) < kGreyWithin;
}

std::int64_t light_pixels(const Image8& rgb) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i + 2 < rgb.pixels.size(); i += 3)
    count += darkest_of(rgb.pixels.data() + i) >= kBlackBelow ? 1 : 0;
  return count;
}

template <typename Rule>
std::int64_t count_opened(const Image8& rgb, const Rule& rule) {
  Mask mask(rgb.height, rgb.width);
  for (std::size_t i = 0; i < mask.pixels.size(); ++i)
    mask.pixels[i] = rule(rgb.pixels.data() + 3 * i) ? 1 : 0;
  return open(mask, 1).count();
}

/// Pixels that are not glass.
std::uint64_t dense_pixels(const Image8& rgb) {
  std::array<std::uint64_t, 256> darkest{};
  count_darkest(rgb.pixels.data(), rgb.height * rgb.width, darkest);
  const int highest = tissue_threshold(darkest).highest_value;
  std::uint64_t dense = 0;
  for (int value = 0; value <= highest; ++value) dense += darkest[static_cast<std::size_t>(value)];
  return dense;
}

}  // namespace

InkShares ink_shares(const Image8& rgb) {
  const std::int64_t coloured = count_opened(rgb, is_ink);
  const std::int64_t black = count_opened(rgb, is_black);
  const auto all = static_cast<double>(std::max<std::int64_t>(1, rgb.height * rgb.width));
  InkShares shares;
  shares.coloured = static_cast<double>(coloured) / all;
  shares.black = static_cast<double>(black) / all;
  shares.light = static_cast<double>(light_pixels(rgb)) / all;
  shares.marks = 3 * static_cast<std::uint64_t>(coloured + black) < dense_pixels(rgb);
  return shares;
}

bool is_dark_field(const InkShares& shares) {
  return !shares.marks && shares.black >= kBlackShare && 2 * shares.light < 1 - shares.black;
}

}  // namespace headrace::pixels
