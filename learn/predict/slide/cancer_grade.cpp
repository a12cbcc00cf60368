#include "learn/predict/slide/cancer_grade.hpp"

#include <numeric>

namespace headrace::predict {

void ClassAreas::add(const ClassAreas& other) {
  for (std::size_t c = 0; c < px.size(); ++c) px[c] += other.px[c];
  if (other.mm2.empty()) mm2.clear();
  for (std::size_t c = 0; c < mm2.size(); ++c) mm2[c] += other.mm2[c];
}

std::uint64_t ClassAreas::predicted_px() const {
  return std::accumulate(px.begin(), px.end(), std::uint64_t{0});
}

std::optional<std::uint64_t> ClassAreas::tissue_px(const measure::TumourRule& rule) const {
  if (!rule.other_tissue()) return std::nullopt;
  return px.empty() ? 0 : predicted_px() - px.front();
}

std::uint64_t ClassAreas::tumour_px(const measure::TumourRule& rule) const {
  std::uint64_t sum = 0;
  for (std::size_t c = 1; c < px.size(); ++c) sum += rule.tumour[c] ? px[c] : 0;
  return sum;
}

std::optional<CancerGrade> cancer_grade(const std::vector<std::uint64_t>& area_px_by_class,
                                        const measure::TumourRule& rule) {
  if (!rule.gleason) return std::nullopt;
  CancerGrade found{measure::grade_from_areas(area_px_by_class, rule.patterns, rule.grading), {}};
  if (!found.cancer()) return found;
  const auto& patterns = rule.patterns.pattern;
  std::uint64_t cancer = 0;
  for (const auto& value : patterns) cancer += value ? area_px_by_class[*value] : 0;
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    if (!patterns[k]) continue;
    found.percent_of_cancer[k] =
        100 * static_cast<double>(area_px_by_class[*patterns[k]]) / static_cast<double>(cancer);
  }
  return found;
}

CaseFindings case_findings(std::span<const ClassAreas> slides, const measure::TumourRule& rule) {
  CaseFindings found{rule, slides.size(), {}, {}};
  if (slides.empty()) {
    found.areas.px.assign(rule.classes.size(), 0);
  } else {
    found.areas = slides.front();
    for (const ClassAreas& slide : slides.subspan(1)) found.areas.add(slide);
  }
  found.grade = cancer_grade(found.areas.px, rule);
  return found;
}

}  // namespace headrace::predict
