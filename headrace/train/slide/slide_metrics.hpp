#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/json.hpp"
#include "headrace/inference/stitcher.hpp"
#include "headrace/loader/config/run_config.hpp"
#include "headrace/train/slide/slide_group.hpp"

namespace headrace::train {

/// Evaluates slides from their stitched rows, and makes the figures of eval.json.
class SlideMetrics {
 public:
  /// `intervals`: the bootstrap intervals that config.eval asks for. Errors: those of slide_rules.
  SlideMetrics(const cohort::Cohort& cohort, const loader::RunConfig& config, bool intervals);

  /// The next row; rows come image by image. Errors: malformed when the truth has a value that is
  /// neither a class, a class set nor 255.
  void add(const inference::StitchedPart& row);
  /// {classes, labels, class_sets, overall, cohorts, scanners, cases, images[]}. No rows may
  /// follow.
  Json finish();
  /// Mean Dice over the classes but background; where no label distinguishes classes, the tumour's.
  double dice_to_choose_by() const;

 private:
  using Slides = std::vector<const JudgedSlide*>;

  void finish_image();
  Json image_json(const JudgedSlide& slide) const;
  Json case_json(const std::string& id, const Slides& slides) const;
  /// For the slides that `holds` takes; a case has those of its slides that are in the group.
  Json group_json(const std::function<bool(const cohort::ImageRecord&)>& holds,
                  const ScoreCounter& scores) const;

  const cohort::Cohort& cohort_;
  SlideRules rules_;
  std::int64_t resamples_;
  std::uint64_t seed_;
  SlideMeter meter_;
  std::optional<std::uint32_t> image_;  ///< whose rows come
  std::map<std::uint32_t, JudgedSlide> slides_;
  std::map<std::string, Slides> cases_;
  ScoreCounter all_scores_;  ///< exact, of pixels
  std::map<std::string, ScoreCounter> cohort_scores_, scanner_scores_;
};

}  // namespace headrace::train
