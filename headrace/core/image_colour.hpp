#pragma once
#include <array>
#include <cstdint>

namespace headrace {

/// Colour of one slide: facts that ingest estimates once from tissue pixels and keeps in the store,
/// and the values that a run assumes for its scanner. Optical density is -log10((v + 1) / 256) of
/// an 8-bit value v, so that v = 255 is 0 (docs/architecture.md, "Colour").
struct ImageColour {
  std::array<double, 6>
      stain_od_rgb_he{};  ///< (3, 2) row-major: unit optical-density vectors, haematoxylin first
  std::array<double, 2> max_concentration{};  ///< 99th percentile of each stain's concentration
  bool has_stain = false;
  /// Integer sums over the slide's own tissue (pixels::OdMoments): pixels, OD in units of 2^-13,
  /// OD·OD (rr rg rb gg gb bb) in units of 2^-26.
  std::uint64_t od_pixels = 0;
  std::array<std::uint64_t, 3> od_sum{};
  std::array<std::uint64_t, 6> od_product{};
  /// What scanner_color assumes for the slide's scanner, and the target that it maps to. Not facts
  /// of the slide: a run fits them (loader::Preprocessing).
  std::array<double, 3> scanner_od_mean{}, scanner_od_std{};
  std::array<double, 3> cohort_od_mean{}, cohort_od_std{};
  bool has_scanner = false;
};

}  // namespace headrace
