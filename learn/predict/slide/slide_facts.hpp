#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "headrace/loader/plan/least_region.hpp"
#include "learn/measure/slide/tumour_rule.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::predict {

/// What counts on a predicted slide. Where the map's mpp is not known, pixels replace lengths and
/// areas.
struct FindingOptions {
  double min_region_mm2 =
      loader::kLeastRegionMm2;       ///< regions and foci below this area are only counted
  std::uint64_t min_region_px = 16;  ///< the same without mpp
  double min_doubt = 0.6;            ///< 0 to 1; regions with a greater doubt are equivocal
  double piece_gap_mm = 0.2;         ///< tissue that is closer is one piece (TissuePieces)
  std::int64_t piece_gap_px = 16;    ///< the same without mpp
};

/// A predicted slide: its map, what is tumour on it, and what counts.
struct SlideFacts {
  result::SlideMap map;
  measure::TumourRule rule;
  FindingOptions options;

  std::size_t classes() const noexcept { return rule.classes.size(); }
  /// Whether a class is tumour; class 0 and kNotPredicted never are.
  bool tumour(std::size_t c) const { return c > 0 && c < classes() && rule.tumour[c]; }
  /// The area from which a region counts, in whole pixels, rounded up; at least 1.
  std::uint64_t least_region_px() const;
  /// The edge of a cell of TissuePieces; at least 1.
  std::int64_t piece_cell_px() const;
  /// None without mpp.
  std::optional<double> area_mm2(std::uint64_t pixels) const;
  std::optional<double> length_mm(double pixels) const;
  /// "pattern 3" for a Gleason pattern, else the class's name.
  std::string shown_class(std::size_t c) const;
  /// "0.81 mm²", and without mpp "1234 pixels".
  std::string shown_area(std::uint64_t pixels) const;
};

}  // namespace headrace::predict
