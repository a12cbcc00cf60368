#include "headrace/pixels/tissue/tissue_mask.hpp"

#include <algorithm>
#include <array>

#include "headrace/pixels/stain/stain_estimate.hpp"
#include "headrace/pixels/tissue/otsu.hpp"
#include "headrace/pixels/tissue/padding.hpp"
#include "headrace/pixels/tissue/small_objects.hpp"
#include "headrace/pixels/tissue/tissue_passes.hpp"

namespace headrace::pixels {
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
    const auto od = od_fixed13(static_cast<std::uint8_t>(v));
    bins[static_cast<std::size_t>(v)] =
        static_cast<std::uint8_t>(std::min<std::uint32_t>(255, od * kBinsPerOd >> 13));
  }
  return bins;
}

void whiten(Image8& rgb, const Mask& where) {
  for (std::size_t i = 0; i < where.pixels.size(); ++i) {
    if (where.pixels[i] != 0)
      std::fill_n(rgb.pixels.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, 255);
  }
}

}  // namespace

DarkestThreshold tissue_threshold(const std::array<std::uint64_t, 256>& darkest) {
  static const std::array<std::uint8_t, 256> kBins = od_bins();
  std::array<std::uint64_t, 256> histogram{};
  for (std::size_t v = 0; v < darkest.size(); ++v) histogram[kBins[v]] += darkest[v];
  const int threshold = std::clamp(otsu_threshold(histogram), kLowestBin, kHighestBin);
  DarkestThreshold found;
  found.od_threshold = static_cast<double>(threshold + 1) / kBinsPerOd;
  // Denser is darker, so densities above the threshold are pixel values up to a limit.
  while (kBins[static_cast<std::size_t>(found.highest_value + 1)] > threshold)
    ++found.highest_value;
  return found;
}

TissueMask find_tissue(const Image8& rgb, StatisticsWorkspaces* workspaces) {
  const std::int64_t count = rgb.height * rgb.width;
  const auto passes_over = [&](const Image8& image) {
    return workspaces != nullptr && count <= kMostDeviceTissuePx
               ? device_tissue_passes(image, *workspaces)
               : cpu_tissue_passes(image);
  };
  auto passes = passes_over(rgb);
  DarkestThreshold threshold = tissue_threshold(passes->darkest());
  // Padding is neither tissue nor glass, and without it the threshold is another, below which more
  // of it may lie.
  constexpr int kRounds = 3;
  Image8 bare;
  for (int round = 0; round < kRounds; ++round) {
    const Image8& seen = round == 0 ? rgb : bare;
    const Mask padding = find_padding(seen, threshold.highest_value + 1);
    if (padding.pixels.empty()) break;
    passes.reset();
    if (round == 0) bare = rgb;
    whiten(bare, padding);
    passes = passes_over(bare);
    threshold = tissue_threshold(passes->darkest());
  }
  TissueMask found;
  found.od_threshold = threshold.od_threshold;
  const TissuePasses::Marked marked = passes->mark(threshold.highest_value);
  if (marked.ink > 0 &&
      static_cast<double>(marked.ink) < kPenShare * static_cast<double>(marked.dense)) {
    // The rim of a stroke is paler than its middle.
    found.pen_fraction = static_cast<double>(passes->take_ink_out()) / static_cast<double>(count);
  }
  const std::int64_t small_px = std::min(kSmallPx, count / 500);
  found.mask = passes->smoothed();
  passes.reset();  // others may need its workspace
  remove_small_objects(found.mask, small_px);
  fill_small_holes(found.mask, small_px);
  return found;
}

}  // namespace headrace::pixels
