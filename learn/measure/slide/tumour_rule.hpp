#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "learn/measure/slide/gleason_grade.hpp"

namespace headrace::measure {

/// What is tumour on slides, and how areas become a grade.
struct TumourRule {
  std::vector<std::string> classes;
  std::vector<bool> tumour;  ///< by class
  bool gleason = false;
  /// Whether task or config say what tumour is. Else every class above 0 counts in its place, and is
  /// called foreground.
  bool stated = true;
  GleasonClasses patterns;  ///< task grading
  GradingRule grading;

  /// Whether a class above 0 is tissue that is not tumour. Else class 0 holds that tissue too, and
  /// what part of the tissue is tumour is not known.
  bool other_tissue() const {
    for (std::size_t c = 1; c < tumour.size(); ++c) {
      if (!tumour[c]) return true;
    }
    return false;
  }
};

}  // namespace headrace::measure
