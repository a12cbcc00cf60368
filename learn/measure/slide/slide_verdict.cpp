#include <algorithm>

#include "learn/measure/slide/slide_group.hpp"

namespace headrace::measure {
namespace {

void add(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& px) {
  for (std::size_t i = 0; i < px.size(); ++i) to[i] += px[i];
}

void predict(Verdict& verdict, const std::vector<std::uint64_t>& predicted_px,
             const SlideRules& rules) {
  verdict.share = tumour_share(predicted_px, rules);
  if (rules.gleason)
    verdict.predicted = grade_from_areas(predicted_px, rules.patterns, rules.grading);
}

std::optional<GleasonGrade> grade_of(const StatedGrade& stated) {
  if (stated.primary && stated.secondary) {
    const int group = isup_grade_group(*stated.primary, *stated.secondary);
    return GleasonGrade{*stated.primary, *stated.secondary, stated.grade_group.value_or(group)};
  }
  if (stated.grade_group) return GleasonGrade{0, 0, *stated.grade_group};
  return std::nullopt;
}

}  // namespace

Verdict slide_verdict(const StatedGrade& grade, const SlideCounts& counts,
                      const SlideRules& rules) {
  Verdict verdict;
  predict(verdict, counts.predicted_px, rules);
  const auto stated = grade_of(grade);
  verdict.cancer =
      stated ? std::optional(stated->grade_group > 0) : annotated_cancer(counts.truth_px, rules);
  if (!rules.gleason) return verdict;
  verdict.truth = stated ? stated : annotated_grade(counts.truth_px, rules);
  if (verdict.truth) verdict.from = stated ? "table" : "annotation";
  return verdict;
}

Verdict case_verdict(std::span<const JudgedSlide* const> slides, const SlideRules& rules) {
  std::vector<std::uint64_t> predicted(rules.classes.size()),
      truth(rules.classes.size() + rules.class_sets.size());
  Verdict verdict;
  bool all_annotated = true, all_known = true;
  for (const JudgedSlide* slide : slides) {
    add(predicted, slide->counts.predicted_px);
    add(truth, slide->counts.truth_px);
    const Verdict& own = slide->verdict;
    all_annotated &= own.from == "annotation";
    all_known &= own.truth.has_value();
    if (own.cancer && (!verdict.cancer || *own.cancer)) verdict.cancer = own.cancer;
  }
  // An unknown slide may hold what the others do not.
  const auto unknown = [](const JudgedSlide* slide) { return !slide->verdict.cancer; };
  if (verdict.cancer == false && std::any_of(slides.begin(), slides.end(), unknown))
    verdict.cancer.reset();
  predict(verdict, predicted, rules);
  if (!rules.gleason || !all_known) return verdict;
  if (all_annotated) {
    verdict.truth = annotated_grade(truth, rules);
    verdict.from = "annotation";
  } else {
    const auto highest = std::max_element(
        slides.begin(), slides.end(), [](const JudgedSlide* a, const JudgedSlide* b) {
          return a->verdict.truth->grade_group < b->verdict.truth->grade_group;
        });
    verdict.truth = (*highest)->verdict.truth;
    verdict.from = slides.size() > 1 ? "highest of its slides" : (*highest)->verdict.from;
  }
  return verdict;
}

}  // namespace headrace::measure
