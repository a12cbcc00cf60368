#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/slide/slide_group.hpp"

namespace headrace::measure {

/// Gathers the counts of slides, and makes the figures of eval.json from them.
class SlideMetrics {
 public:
  /// `resamples` of the cases for the intervals of figures; 0: none.
  SlideMetrics(SlideRules rules, std::int64_t resamples, std::uint64_t seed);

  const SlideRules& rules() const noexcept { return rules_; }
  /// The slide of this number; slides are listed by it. `exact_scores`: SlideMeter::exact_scores.
  void add(std::uint32_t image, SlideFacts facts, SlideCounts counts,
           const ScoreCounts& exact_scores);
  /// {classes, labels, class_sets, overall, cohorts, scanners, cases, images[]} of all slides that
  /// were added.
  Json to_json() const;
  /// Mean Dice over the classes but background; where no label distinguishes classes, the tumour's;
  /// none where that is undefined, too.
  std::optional<double> dice_to_choose_by() const;

 private:
  using Slides = std::vector<const JudgedSlide*>;
  using Cases = std::map<std::string, Slides>;

  Json image_json(const JudgedSlide& slide) const;
  Json case_json(const std::string& id, const Slides& slides) const;
  /// For the slides that `holds` takes; a case has those of its slides that are in the group.
  Json group_json(const Cases& cases, const std::function<bool(const SlideFacts&)>& holds,
                  const ScoreCounter& scores) const;

  SlideRules rules_;
  std::int64_t resamples_;
  std::uint64_t seed_;
  std::map<std::uint32_t, JudgedSlide> slides_;
  ScoreCounter all_scores_;  ///< exact, of pixels
  std::map<std::string, ScoreCounter> cohort_scores_, scanner_scores_;
};

}  // namespace headrace::measure
