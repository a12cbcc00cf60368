#include "headrace/predict/quality/ink.hpp"

#include <algorithm>
#include <array>

#include "headrace/pixels/tissue/morphology.hpp"
#include "headrace/pixels/tissue/rgb.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"
#include "headrace/predict/quality/slide_part.hpp"

namespace headrace::predict {
namespace {

constexpr int kBlackBelow = 80, kGreyWithin = 25;

bool is_black(const std::uint8_t* rgb) {
  const int highest = pixels::brightest_of(rgb);
  return highest < kBlackBelow && highest - pixels::darkest_of(rgb) < kGreyWithin;
}

template <typename Rule>
std::int64_t count_opened(const pixels::Image8& rgb, const Rule& rule) {
  pixels::Mask mask(rgb.height, rgb.width);
  for (std::size_t i = 0; i < mask.pixels.size(); ++i)
    mask.pixels[i] = rule(rgb.pixels.data() + 3 * i) ? 1 : 0;
  return pixels::open(mask, 1).count();
}

/// Pixels that are not glass.
std::uint64_t dense_pixels(const pixels::Image8& rgb) {
  std::array<std::uint64_t, 256> darkest{};
  pixels::count_darkest(rgb.pixels.data(), rgb.height * rgb.width, darkest);
  const int highest = pixels::tissue_threshold(darkest).highest_value;
  std::uint64_t dense = 0;
  for (int value = 0; value <= highest; ++value) dense += darkest[static_cast<std::size_t>(value)];
  return dense;
}

}  // namespace

InkShares ink_shares(const pixels::Image8& rgb) {
  const std::int64_t coloured = count_opened(rgb, pixels::is_ink);
  const std::int64_t black = count_opened(rgb, is_black);
  const auto all = static_cast<double>(std::max<std::int64_t>(1, rgb.height * rgb.width));
  InkShares shares;
  shares.coloured = static_cast<double>(coloured) / all;
  shares.black = static_cast<double>(black) / all;
  shares.marks = 3 * static_cast<std::uint64_t>(coloured + black) < dense_pixels(rgb);
  return shares;
}

InkShares ink_of(const cohort::Cohort& cohort, std::size_t image) {
  const auto& levels = cohort.images()[image].levels;
  double downsample = 1;
  cohort.tissue_mask(image, downsample);
  std::size_t level = 0;
  while (level + 1 < levels.size() && levels[level].downsample_yx[0] < downsample) ++level;
  const auto shape = cohort.image_array(image, level)->metadata().shape;
  return ink_shares(read_slide(cohort, image, {level, 0, 0, shape[1], shape[2]}));
}

}  // namespace headrace::predict
