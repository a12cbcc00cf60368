#pragma once
#include <cmath>
#include <cstdint>
#include <optional>

namespace headrace::imaging {

/// Where a place of level 0 lies on a level, along one axis.
struct LevelPlace {
  std::int64_t pixel = 0;  ///< the nearest pixel
  bool exact = false;      ///< OpenSlide reads that pixel too, without interpolation
};

/// Places as OpenSlide's read_region counts them: those before 0 are cut to whole pixels, others
/// are fractions, which it interpolates bilinearly unless they are whole to 1/512 of a pixel (cairo
/// keeps 8 bits of them; half of that is allowed here). Source: openslide.c and openslide-grid.c of
/// OpenSlide 4.0.
inline LevelPlace place_on_level(std::int64_t level0, double downsample) {
  if (level0 < 0)
    return {-static_cast<std::int64_t>(-static_cast<double>(level0) / downsample), true};
  constexpr double kWhole = 1.0 / 1024;
  const double at = static_cast<double>(level0) / downsample;
  const auto pixel = std::llround(at);
  return {pixel, std::abs(at - static_cast<double>(pixel)) < kWhole};
}

/// The first pixel of a region of `size` pixels that begins at `level0`, where OpenSlide gives its
/// pixels as stored; else nothing. OpenSlide reads large regions in parts of 4096 pixels, whose
/// places it cuts to pixels of level 0, so that each part may be shifted on its own.
inline std::optional<std::int64_t> stored_pixels_from(std::int64_t level0, std::int64_t size,
                                                      double downsample) {
  constexpr std::int64_t kPart = 4096;
  const LevelPlace first = place_on_level(level0, downsample);
  for (std::int64_t at = 0; at < size; at += kPart) {
    const auto begin = static_cast<std::int64_t>(static_cast<double>(level0) +
                                                 static_cast<double>(at) * downsample);
    const LevelPlace place = place_on_level(begin, downsample);
    if (!place.exact || place.pixel != first.pixel + at) return std::nullopt;
  }
  return first.pixel;
}

}  // namespace headrace::imaging
