#include "headrace/ingest/tissue/tissue_mask.hpp"

#include <algorithm>
#include <array>

#include "headrace/ingest/tissue/components.hpp"
#include "headrace/ingest/tissue/morphology.hpp"
#include "headrace/ingest/tissue/otsu.hpp"
#include "headrace/transform/stain_estimate.hpp"

namespace headrace::ingest {
namespace {

// Histogram bins of optical density: 1/128 each, so that 255 is an OD of 2.
constexpr int kBinsPerOd = 128;
constexpr int kLowestBin = 5;    // OD 0.05: the noise of glass
constexpr int kHighestBin = 18;  // OD 0.15: pale stroma
constexpr double kPenShare = 1.0 / 3;
constexpr std::int64_t kSmallPx = 64;

std::array<std::uint8_t, 256> od_bins() {
  std::array<std::uint8_t, 256> bins{};
  for (int v = 0; v < 256; ++v) {
    const auto od = transform::od_fixed13(static_cast<std::uint8_t>(v));
    bins[static_cast<std::size_t>(v)] =
        static_cast<std::uint8_t>(std::min<std::uint32_t>(255, od * kBinsPerOd >> 13));
  }
  return bins;
}

/// Ink of a pen: green beyond anything that a stain gives, or blue that lets less red than green
/// through.
bool is_ink(const std::uint8_t* rgb) {
  const int r = rgb[0], g = rgb[1], b = rgb[2];
  const bool green = g > r + 15 && g + 5 > b;
  const bool blue = g > r + 15 && b > r + 60;
  return green || blue;
}

}  // namespace

DarkestThreshold tissue_threshold(const std::array<std::uint64_t, 256>& darkest) {
  static const std::array<std::uint8_t, 256> kBins = od_bins();
  std::array<std::uint64_t, 256> histogram{};
  for (std::size_t v = 0; v < darkest.size(); ++v) histogram[kBins[v]] += darkest[v];
  const int threshold = std::clamp(otsu_threshold(histogram), kLowestBin, kHighestBin);
  DarkestThreshold found;
  found.od_threshold = static_cast<double>(threshold + 1) / kBinsPerOd;
  // Denser is darker, so the values above the threshold are those up to one.
  while (kBins[static_cast<std::size_t>(found.highest_value + 1)] > threshold)
    ++found.highest_value;
  return found;
}

TissueMask find_tissue(const imaging::Image8& rgb) {
  const auto darkest_of = [](const std::uint8_t* p) { return std::min({p[0], p[1], p[2]}); };
  std::array<std::uint64_t, 256> darkest{};
  const std::int64_t count = rgb.height * rgb.width;
  for (std::int64_t i = 0; i < count; ++i)
    ++darkest[darkest_of(&rgb.pixels[static_cast<std::size_t>(3 * i)])];
  const DarkestThreshold threshold = tissue_threshold(darkest);

  TissueMask found;
  found.od_threshold = threshold.od_threshold;
  Mask dense(rgb.height, rgb.width), ink(rgb.height, rgb.width);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint8_t* pixel = &rgb.pixels[static_cast<std::size_t>(3 * i)];
    if (darkest_of(pixel) > threshold.highest_value) continue;
    dense.pixels[static_cast<std::size_t>(i)] = 1;
    ink.pixels[static_cast<std::size_t>(i)] = is_ink(pixel) ? 1 : 0;
  }
  const auto ink_px = ink.count();
  if (ink_px > 0 && static_cast<double>(ink_px) < kPenShare * static_cast<double>(dense.count())) {
    // The rim of a stroke is paler than its middle.
    const Mask stroke = dilate(open(ink, 1), 2);
    for (std::size_t i = 0; i < stroke.pixels.size(); ++i) {
      if (stroke.pixels[i] != 0) dense.pixels[i] = 0;
    }
    found.pen_fraction = static_cast<double>(stroke.count()) / static_cast<double>(count);
  }
  const std::int64_t small_px = std::min(kSmallPx, count / 500);
  found.mask = close(open(dense, 1), 2);
  remove_small_objects(found.mask, small_px);
  fill_small_holes(found.mask, small_px);
  return found;
}

}  // namespace headrace::ingest
