#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/source/cohort.hpp"
#include "headrace/train/confusion.hpp"
#include "headrace/train/kappa.hpp"
#include "headrace/train/stitcher.hpp"

namespace headrace::train {

/// What was counted on one image.
struct ImageTally {
  explicit ImageTally(std::size_t classes)
      : confusion(classes), predicted_px(classes, 0), truth_px(classes, 0) {}
  Confusion confusion;                      ///< pixels that are annotated and under a tile
  std::vector<std::uint64_t> predicted_px;  ///< by class, all pixels under a tile
  std::vector<std::uint64_t> truth_px;      ///< by class, annotated pixels under a tile
};

/// Counts stitched rows or slices by image, and makes the figures of eval.json from them.
class Tally {
 public:
  Tally(const source::Cohort& cohort, const loader::RunConfig& config);

  /// Errors: malformed when the truth has a value that is neither a class nor 255.
  void add(const StitchedPart& row);
  /// {classes, overall, cohorts, scanners, images[]} and for task gleason {gleason}.
  Json to_json() const;
  double mean_dice() const;

 private:
  Json image_json(std::uint32_t image, const ImageTally& tally,
                  std::vector<RatedSlide>* rated) const;
  Json kappa_json(const std::vector<RatedSlide>& rated) const;

  const source::Cohort& cohort_;
  loader::RunConfig config_;
  std::map<std::uint32_t, ImageTally> images_;
};

}  // namespace headrace::train
