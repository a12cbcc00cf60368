#include "cli/glass_colour.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace headrace::cli {
namespace {

std::uint8_t median(const std::array<std::uint64_t, 256>& counts) {
  std::uint64_t all = 0, seen = 0;
  for (const std::uint64_t count : counts) all += count;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    seen += counts[value];
    if (all > 0 && 2 * seen >= all) return static_cast<std::uint8_t>(value);
  }
  return 255;
}

}  // namespace

Rgb glass_colour(const cohort::Cohort& cohort, std::size_t image) {
  const auto& levels = cohort.images()[image].levels;
  const std::size_t k = levels.size() - 1;
  const auto& level = levels[k];
  double mask_down = 1;
  const auto mask = cohort.tissue_mask(image, mask_down);
  const auto& mask_shape = mask->metadata().shape;
  std::vector<std::byte> pixels(static_cast<std::size_t>(level.height * level.width * 3)),
      tissue(static_cast<std::size_t>(mask_shape[0] * mask_shape[1]));
  cohort.image_array(image, k)->read(
      {{0, 0, 0}, {3, level.height, level.width}, pixels.data(), {1, 3 * level.width, 3}, {}});
  mask->read({{0, 0}, {mask_shape[0], mask_shape[1]}, tissue.data(), {mask_shape[1], 1}, {}});
  std::array<std::array<std::uint64_t, 256>, 3> counts{};
  for (std::int64_t y = 0; y < level.height; ++y) {
    const auto row = std::min<std::int64_t>(
        mask_shape[0] - 1, static_cast<std::int64_t>((static_cast<double>(y) + 0.5) *
                                                     level.downsample_yx[0] / mask_down));
    for (std::int64_t x = 0; x < level.width; ++x) {
      const auto column = std::min<std::int64_t>(
          mask_shape[1] - 1, static_cast<std::int64_t>((static_cast<double>(x) + 0.5) *
                                                       level.downsample_yx[1] / mask_down));
      if (tissue[static_cast<std::size_t>(row * mask_shape[1] + column)] != std::byte{0}) continue;
      for (std::size_t c = 0; c < 3; ++c) {
        const auto at = static_cast<std::size_t>((y * level.width + x) * 3) + c;
        ++counts[c][std::to_integer<std::size_t>(pixels[at])];
      }
    }
  }
  return {median(counts[0]), median(counts[1]), median(counts[2])};
}

}  // namespace headrace::cli
