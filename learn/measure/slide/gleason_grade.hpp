#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::measure {

/// Gleason patterns of a slide or case, and the resulting ISUP grade group. Patterns 0: no cancer.
struct GleasonGrade {
  int primary = 0, secondary = 0, grade_group = 0;
  int tertiary = 0;  ///< for a prostatectomy: a higher pattern below min_area; 0: none
  bool operator==(const GleasonGrade&) const = default;
};

constexpr int kGradeGroups = 6;  ///< 0 (no cancer) to 5

/// ISUP 2014: 3+3 → 1; 3+4 → 2; 4+3 → 3; 4+4, 3+5, 5+3 → 4; 4+5, 5+4, 5+5 → 5; no cancer → 0.
/// Errors: usage for other pairs.
int isup_grade_group(int primary, int secondary);

/// The label value of each pattern, by class name: one that ends in 3, 4 or 5 ("pattern3",
/// "gleason_4"). Class 0 is background, the rest is tissue.
struct GleasonClasses {
  std::array<std::optional<std::size_t>, 3> pattern{};  ///< label value of patterns 3, 4, 5
};
/// Errors: usage when no class is a pattern, with the names that there are.
GleasonClasses find_gleason_classes(const std::vector<std::string>& class_names);

/// How areas become a grade; the numbers are parts of an area: `min_cancer` of the tissue, the
/// others of the cancer.
struct GradingRule {
  bool biopsy = true;        ///< else a prostatectomy
  double min_cancer = 0.02;  ///< less counts as no cancer
  double min_area = 0.05;    ///< from which a lower pattern counts; for a prostatectomy also a
                             ///< higher one
  double min_higher = 0.01;  ///< noise floor of biopsies: from which a higher pattern counts
};

/// Grade of a slide, or of a case with the areas of all its slides added up, from the area of each
/// class.
///
/// There is cancer when patterns 3 to 5 together fill at least `min_cancer` of the tissue
/// (everything but class 0). The primary pattern is the one with the largest area (of equals the
/// higher). A lower pattern counts from `min_area` of the cancer on.
///   biopsy         a higher pattern counts in any amount, that is from `min_higher` on. The
///                  secondary is the highest of the other patterns that count, else the primary.
///   prostatectomy  a higher pattern counts from `min_area` on, and the secondary is found in the
///                  same way; the highest pattern below that is reported as tertiary and leaves
///                  score and group as they are.
/// source  Epstein et al., The 2014 ISUP Consensus Conference on Gleason Grading, Am J Surg Pathol
///         40, 2016; Epstein et al., Contemporary Gleason Grading, Am J Surg Pathol 41, 2017; van
///         Leenders et al., The 2019 ISUP Consensus Conference, Am J Surg Pathol 44, 2020. The
///         floor is ours: a network's stray pixels are not a pathologist's pattern 5.
/// They leave open what <5 % of a higher pattern is when a prostatectomy has no third one (ISUP
/// 2019 found no consensus). Here it is tertiary, 3+3 with tertiary 4; by Epstein 2017 and GUPS
/// (Epstein et al., Arch Pathol Lab Med 145, 2021), who keep the word for pattern 5 beside 3+4 and
/// 4+3, it is 3+4.
GleasonGrade grade_from_areas(const std::vector<std::uint64_t>& area_px_by_class,
                              const GleasonClasses& classes, const GradingRule& rule);

}  // namespace headrace::measure
