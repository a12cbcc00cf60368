#include "headrace/inference/slide/tumour_rule.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"

namespace headrace::inference {

TumourRule tumour_rule(const std::vector<std::string>& classes, const loader::RunConfig& config) {
  const auto& eval = config.eval;
  TumourRule rule;
  rule.classes = classes;
  rule.tumour.assign(classes.size(), false);
  rule.grading = {eval.grading, eval.min_cancer, eval.min_area, eval.min_higher};
  rule.gleason = config.task == loader::Task::gleason;
  if (rule.gleason) rule.patterns = find_gleason_classes(classes);
  for (const std::string& name : eval.tumour_classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) {
      const auto nearest = nearest_name(name, classes);
      fail(ErrorCode::usage, "eval.tumour_classes: '{}' is none of the classes ({}){}", name,
           fmt::join(classes, ", "), nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    }
    rule.tumour[static_cast<std::size_t>(found - classes.begin())] = true;
  }
  if (!eval.tumour_classes.empty()) return rule;
  for (std::size_t c = 1; c < classes.size(); ++c) {
    const auto& patterns = rule.patterns.pattern;
    rule.tumour[c] =
        !rule.gleason || std::find(patterns.begin(), patterns.end(), c) != patterns.end();
  }
  return rule;
}

}  // namespace headrace::inference
