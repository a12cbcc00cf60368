#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::train {

/// Gleason patterns of a slide and the ISUP grade group they make. Patterns 0: no cancer.
struct GleasonGrade {
  int primary = 0, secondary = 0, grade_group = 0;
  bool operator==(const GleasonGrade&) const = default;
};

constexpr int kGradeGroups = 6;  ///< 0 (no cancer) to 5

/// ISUP 2014: 3+3 → 1; 3+4 → 2; 4+3 → 3; 4+4, 3+5, 5+3 → 4; 4+5, 5+4, 5+5 → 5; no cancer → 0.
/// Errors: usage for other pairs.
int isup_grade_group(int primary, int secondary);

/// Which label value is which pattern, told from the class names: one that ends in 3, 4 or 5
/// ("pattern3", "gleason_4"). Class 0 is background, the rest is tissue.
struct GleasonClasses {
  std::array<std::optional<std::size_t>, 3> pattern{};  ///< label value of patterns 3, 4, 5
};
/// Errors: usage when no class is a pattern, with the names that there are.
GleasonClasses find_gleason_classes(const std::vector<std::string>& class_names);

/// Grade of a slide from the area of each class.
///
/// Rule: the slide has cancer when patterns 3 to 5 together fill at least `min_cancer` of the
/// tissue (everything but class 0). Then primary is the pattern with the largest area (of equals
/// the higher), secondary the largest of the others if it fills at least `min_area` of the cancer,
/// else primary.
GleasonGrade grade_from_areas(const std::vector<std::uint64_t>& area_px_by_class,
                              const GleasonClasses& classes, double min_cancer, double min_area);

}  // namespace headrace::train
