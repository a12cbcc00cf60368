#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/base/image_facts.hpp"
#include "learn/measure/slide/kappa.hpp"
#include "learn/measure/slide/slide_counts.hpp"

namespace headrace::measure {

/// The grade that is stated for a slide: both patterns, or the ISUP grade group alone.
struct StatedGrade {
  std::optional<int> primary, secondary, grade_group;
};

struct SlideFacts : ImageFacts {
  StatedGrade grade;
};

/// Truth and prediction of a slide or a case.
struct Verdict {
  std::optional<bool> cancer;         ///< whether it has cancer; none: not known
  double share = 0;                   ///< predicted tumour in its predicted tissue
  std::optional<GleasonGrade> truth;  ///< task grading; none: not known
  GleasonGrade predicted;             ///< task grading
  std::string from;                   ///< what `truth` was taken from
};

struct JudgedSlide {
  SlideFacts facts;
  SlideCounts counts;
  Verdict verdict;
};

/// The slides of one case (cores of one patient). A resample may hold a case more than once.
struct CaseSlides {
  std::string id;
  std::vector<const JudgedSlide*> slides;
  Verdict verdict;  ///< from the areas of all its slides together
};

/// Verdict of one slide; the truth is the stated one, else that of the annotation.
Verdict slide_verdict(const StatedGrade& grade, const SlideCounts& counts, const SlideRules& rules);
/// Verdict of a case, from the summed areas of its slides. Its truth is that of the summed areas
/// where every slide's truth comes from the annotation; else the highest of its slides' grades, and
/// cancer where a slide has it; none where a slide's truth is not known and no other slide decides.
Verdict case_verdict(std::span<const JudgedSlide* const> slides, const SlideRules& rules);

/// A figure of a group of slides, and its path in eval.json.
using SlideFigure = std::pair<JsonPath, std::optional<double>>;

/// All figures of a group that have intervals; the same, in the same order, for every group.
/// Pixels, structures and calibration pool the group's slides. `pixel_scores`: the exact scores of
/// the group; null: the rounded ones of its slides.
std::vector<SlideFigure> slide_figures(std::span<const CaseSlides* const> cases,
                                       const SlideRules& rules, const ScoreCounts* pixel_scores);

/// These figures and the counts that they come from (docs/formats.md). With `resamples` above 0 and
/// two cases or more also interval_95.
Json slide_group_json(std::span<const CaseSlides* const> cases, const SlideRules& rules,
                      const ScoreCounts* pixel_scores, std::int64_t resamples, std::uint64_t seed);

}  // namespace headrace::measure
