#pragma once
#include <string>
#include <vector>

#include "headrace/measure/slide/gleason_grade.hpp"

namespace headrace::measure {

/// What is tumour on slides, and how areas become a grade.
struct TumourRule {
  std::vector<std::string> classes;
  std::vector<bool> tumour;  ///< by class
  bool gleason = false;
  GleasonClasses patterns;  ///< task gleason
  GradingRule grading;
};

}  // namespace headrace::measure
