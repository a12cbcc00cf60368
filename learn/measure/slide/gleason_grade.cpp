#include "learn/measure/slide/gleason_grade.hpp"

#include <fmt/ranges.h>

#include "headrace/core/error.hpp"

namespace headrace::measure {

int isup_grade_group(int primary, int secondary) {
  if (primary == 0 && secondary == 0) return 0;
  const bool known = primary >= 3 && primary <= 5 && secondary >= 3 && secondary <= 5;
  if (!known) fail(ErrorCode::usage, "Gleason {}+{}: patterns are 3, 4 or 5.", primary, secondary);
  const int sum = primary + secondary;
  if (sum == 6) return 1;
  if (sum == 7) return primary == 3 ? 2 : 3;
  return sum == 8 ? 4 : 5;
}

GleasonClasses find_gleason_classes(const std::vector<std::string>& class_names) {
  GleasonClasses found;
  bool any = false;
  for (std::size_t c = 1; c < class_names.size(); ++c) {
    const std::string& name = class_names[c];
    const char last = name.empty() ? ' ' : name.back();
    if (last < '3' || last > '5') continue;
    auto& slot = found.pattern[static_cast<std::size_t>(last - '3')];
    if (slot) {
      fail(ErrorCode::usage, "Classes '{}' and '{}' both name Gleason pattern {}.",
           class_names[*slot], name, last);
    }
    slot = c;
    any = true;
  }
  if (!any) {
    fail(ErrorCode::usage,
         "task grading: no class is a Gleason pattern (a name that ends in 3, 4 or 5); "
         "there are {}. Use task: segmentation.",
         class_names);
  }
  return found;
}

GleasonGrade grade_from_areas(const std::vector<std::uint64_t>& area_px_by_class,
                              const GleasonClasses& classes, const GradingRule& rule) {
  std::uint64_t tissue = 0, cancer = 0;
  for (std::size_t c = 1; c < area_px_by_class.size(); ++c) tissue += area_px_by_class[c];
  std::array<std::uint64_t, 3> area{};
  for (std::size_t k = 0; k < 3; ++k) {
    if (classes.pattern[k]) area[k] = area_px_by_class.at(*classes.pattern[k]);
    cancer += area[k];
  }
  GleasonGrade grade;
  if (cancer == 0 || static_cast<double>(cancer) < rule.min_cancer * static_cast<double>(tissue)) {
    return grade;
  }
  std::size_t first = 0;
  for (std::size_t k = 1; k < 3; ++k) {
    if (area[k] >= area[first]) first = k;
  }
  std::size_t second = first;
  for (std::size_t k = 3; k-- > 0;) {  // from the highest down
    if (k == first || area[k] == 0) continue;
    const double least = rule.biopsy && k > first ? rule.min_higher : rule.min_area;
    if (static_cast<double>(area[k]) >= least * static_cast<double>(cancer)) {
      second = k;
      break;
    }
    const int pattern = static_cast<int>(k) + 3;
    if (!rule.biopsy && k > first && grade.tertiary == 0) grade.tertiary = pattern;
  }
  grade.primary = static_cast<int>(first) + 3;
  grade.secondary = static_cast<int>(second) + 3;
  grade.grade_group = isup_grade_group(grade.primary, grade.secondary);
  return grade;
}

}  // namespace headrace::measure
