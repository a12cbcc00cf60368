#include "learn/predict/slide/slide_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headrace::predict {

std::uint64_t SlideFacts::least_region_px() const {
  if (map.mpp <= 0) return std::max<std::uint64_t>(options.min_region_px, 1);
  // A product such as 0.005 · 10^6 may lie just above the whole number that it stands for.
  const double pixels = options.min_region_mm2 * 1e6 / (map.mpp * map.mpp) * (1 - 1e-12);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(pixels)), 1);
}

std::int64_t SlideFacts::piece_cell_px() const {
  const std::int64_t pixels =
      map.mpp > 0 ? std::llround(options.piece_gap_mm * 1e3 / map.mpp) : options.piece_gap_px;
  return std::max<std::int64_t>(pixels, 1);
}

std::optional<double> SlideFacts::area_mm2(std::uint64_t pixels) const {
  if (map.mpp <= 0) return std::nullopt;
  return static_cast<double>(pixels) * map.mpp * map.mpp / 1e6;
}

std::optional<double> SlideFacts::length_mm(double pixels) const {
  if (map.mpp <= 0) return std::nullopt;
  return pixels * map.mpp / 1e3;
}

std::string SlideFacts::shown_class(std::size_t c) const {
  const auto& patterns = rule.patterns.pattern;
  for (std::size_t k = 0; rule.gleason && k < patterns.size(); ++k) {
    if (patterns[k] == c) return fmt::format("pattern {}", k + 3);
  }
  return rule.classes[c];
}

std::string SlideFacts::shown_area(std::uint64_t pixels) const {
  const auto mm2 = area_mm2(pixels);
  if (!mm2) return fmt::format("{} pixels", pixels);
  return *mm2 < 1 ? fmt::format("{:.2g} mm²", *mm2) : fmt::format("{:.1f} mm²", *mm2);
}

}  // namespace headrace::predict
