#pragma once
#include <array>

namespace headrace {

/// Colour facts of one slide, estimated once at ingest from tissue pixels and kept in the store.
/// Optical density is -log10((v + 1) / 256) of an 8-bit value v, so that v = 255 is 0
/// (docs/architecture.md, "Colour").
struct ImageColour {
  std::array<double, 6>
      stain_od_rgb_he{};  ///< (3, 2) row-major: unit optical-density vectors, haematoxylin first
  std::array<double, 2> max_concentration{};  ///< 99th percentile of each stain's concentration
  bool has_stain = false;
  std::array<double, 3> scanner_od_mean{},
      scanner_od_std{};  ///< of the tissue of all slides of that scanner
  std::array<double, 3> cohort_od_mean{},
      cohort_od_std{};  ///< of the tissue of all slides of the store
  bool has_scanner = false;
};

}  // namespace headrace
