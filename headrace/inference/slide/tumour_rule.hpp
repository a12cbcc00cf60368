#pragma once
#include <string>
#include <vector>

#include "headrace/inference/slide/gleason_grade.hpp"
#include "headrace/loader/config/run_config.hpp"

namespace headrace::inference {

/// What a run on slides takes for tumour, and how its areas become a grade.
struct TumourRule {
  std::vector<std::string> classes;
  std::vector<bool> tumour;  ///< by class
  bool gleason = false;
  GleasonClasses patterns;  ///< task gleason
  GradingRule grading;
};

/// Tumour: eval.tumour_classes; by default the Gleason patterns; for task segmentation every class
/// above 0. Errors: usage (no pattern among the classes; a name that is not a class, with the
/// nearest).
TumourRule tumour_rule(const std::vector<std::string>& classes, const loader::RunConfig& config);

}  // namespace headrace::inference
