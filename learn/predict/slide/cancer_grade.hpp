#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "learn/measure/slide/tumour_rule.hpp"

namespace headrace::predict {

/// What each class fills, of a slide or of all slides of a case.
struct ClassAreas {
  std::vector<std::uint64_t> px;  ///< by class
  std::vector<double> mm2;        ///< by class; empty: an mpp is not known

  /// Adds another slide. Its pixels have the same mpp, that of the run's patches.
  void add(const ClassAreas& other);
  std::uint64_t predicted_px() const;
  /// All predicted pixels but those of class 0. None where class 0 holds tissue too
  /// (TumourRule::other_tissue).
  std::optional<std::uint64_t> tissue_px(const measure::TumourRule& rule) const;
  /// Pixels of tumour classes above 0.
  std::uint64_t tumour_px(const measure::TumourRule& rule) const;
};

/// The Gleason grade of a slide or case.
struct CancerGrade {
  measure::GleasonGrade grade;
  /// Of patterns 3, 4 and 5, in percent of the three together; none: no cancer, or no such class.
  std::array<std::optional<double>, 3> percent_of_cancer{};

  bool cancer() const noexcept { return grade.grade_group > 0; }
};
/// By measure::grade_from_areas; none for other tasks than grading.
std::optional<CancerGrade> cancer_grade(const std::vector<std::uint64_t>& area_px_by_class,
                                        const measure::TumourRule& rule);

/// A case: all its slides together.
struct CaseFindings {
  measure::TumourRule rule;
  std::size_t slides = 0;
  ClassAreas areas;
  std::optional<CancerGrade> grade;
};
/// From the summed areas of the slides, as evaluation grades a case. `slides` may be empty.
CaseFindings case_findings(std::span<const ClassAreas> slides, const measure::TumourRule& rule);

}  // namespace headrace::predict
