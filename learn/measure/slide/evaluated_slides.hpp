#pragma once
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/slide/slide_group.hpp"

namespace headrace::measure {

/// The slides of an eval.json as they were measured, so that figures of any of them can be made
/// again (slide_figures). Of what it leaves out (scores and calibration of pixels) the counts are
/// empty.
struct EvaluatedSlides {
  SlideRules rules;  ///< what figures need of them
  std::vector<JudgedSlide> slides;
  std::map<std::string, Verdict> cases;  ///< of all slides of a case together
  /// Whether `tumour` of all slides is known: not where labels are class sets that decide about it.
  bool tumour_known = true;

  /// Whether a figure that slide_figures gives for these slides is that of the evaluation.
  bool knows(const JsonPath& figure) const;
};

/// Reads it. Errors: unsupported (made by a version whose images have no matrix), malformed.
EvaluatedSlides evaluated_slides(const Json& evaluation, const std::string& origin);

}  // namespace headrace::measure
