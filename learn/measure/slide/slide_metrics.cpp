#include "learn/measure/slide/slide_metrics.hpp"

namespace headrace::measure {
namespace {

Json grade_json(const std::optional<GleasonGrade>& grade) {
  if (!grade) return nullptr;
  Json out = {{"primary", grade->primary},
              {"secondary", grade->secondary},
              {"grade_group", grade->grade_group}};
  if (grade->tertiary > 0) out["tertiary"] = grade->tertiary;
  return out;
}

/// The prediction for a slide or a case.
void put_verdict(Json& to, const Verdict& verdict, bool gleason) {
  to["cancer"] = or_null(verdict.cancer);
  to["tumour_share"] = verdict.share;
  if (!gleason) return;
  to["predicted_grade"] = grade_json(verdict.predicted);
  to["true_grade"] = grade_json(verdict.truth);
  if (verdict.truth) to["true_grade"]["from"] = verdict.from;
}

Json objects_json(const SlideCounts& counts, const SlideRules& rules) {
  Json out = Json::object();
  for (std::size_t r = 0; r + 1 < rules.regions(); ++r)
    out[rules.classes[r + 1]] = counts.objects[r].to_json();
  return out;
}

}  // namespace

SlideMetrics::SlideMetrics(SlideRules rules, std::int64_t resamples, std::uint64_t seed)
    : rules_(std::move(rules)), resamples_(resamples), seed_(seed) {}

void SlideMetrics::add(std::uint32_t image, SlideFacts facts, SlideCounts counts,
                       const ScoreCounts& exact_scores) {
  Verdict verdict = slide_verdict(facts.grade, counts, rules_);
  all_scores_.add(exact_scores);
  if (facts.cohort) cohort_scores_[*facts.cohort].add(exact_scores);
  if (facts.scanner) scanner_scores_[*facts.scanner].add(exact_scores);
  slides_.insert_or_assign(image,
                           JudgedSlide{std::move(facts), std::move(counts), std::move(verdict)});
}

Json SlideMetrics::image_json(const JudgedSlide& slide) const {
  Json out = slide.counts.confusion.to_json(rules_.classes);
  out["id"] = slide.facts.id;
  out["case"] = slide.facts.case_id;
  out["cohort"] = or_null(slide.facts.cohort);
  out["scanner"] = or_null(slide.facts.scanner);
  for (std::size_t c = 0; c < rules_.classes.size(); ++c)
    out["predicted_px"][rules_.classes[c]] = slide.counts.predicted_px[c];
  out["set_pixels"] = slide.counts.set_px();
  out["tumour"] = {{"dice", or_null(slide.counts.tumour.dice(1))},
                   {"auc", or_null(slide.counts.auc)},
                   {"pixels", slide.counts.tumour.total()},
                   {"objects", slide.counts.objects.back().to_json()}};
  out["objects"] = objects_json(slide.counts, rules_);
  out["calibration"] = {{"ece", or_null(slide.counts.calibration.expected_error())},
                        {"brier", or_null(slide.counts.calibration.brier())}};
  put_verdict(out, slide.verdict, rules_.gleason);
  return out;
}

Json SlideMetrics::case_json(const std::string& id, const Slides& slides) const {
  const CaseSlides one{id, slides, case_verdict(slides, rules_)};
  const CaseSlides* const pointer = &one;
  Json json = slide_group_json({&pointer, 1}, rules_, nullptr, 0, seed_);
  // One case has no ranking of cases, and its grades are listed side by side.
  for (const char* key : {"detection", "gleason"}) json.erase(key);
  put_verdict(json, one.verdict, rules_.gleason);
  return json;
}

Json SlideMetrics::group_json(const Cases& cases,
                              const std::function<bool(const SlideFacts&)>& holds,
                              const ScoreCounter& scores) const {
  std::vector<CaseSlides> of;
  for (const auto& [id, slides] : cases) {
    CaseSlides some{id, {}, {}};
    for (const JudgedSlide* slide : slides) {
      if (holds(slide->facts)) some.slides.push_back(slide);
    }
    if (some.slides.empty()) continue;
    some.verdict = case_verdict(some.slides, rules_);
    of.push_back(std::move(some));
  }
  std::vector<const CaseSlides*> pointers;
  for (const CaseSlides& one : of) pointers.push_back(&one);
  const ScoreCounts exact = scores.counts();
  return slide_group_json(pointers, rules_, &exact, resamples_, seed_);
}

Json SlideMetrics::to_json() const {
  Cases cases;
  for (const auto& [image, slide] : slides_) cases[slide.facts.case_id].push_back(&slide);
  Json out = {{"classes", rules_.classes},
              {"labels", label_names(rules_.classes, rules_.class_sets)},
              {"class_sets", headrace::to_json(rules_.class_sets, rules_.classes)},
              {"images", Json::array()}};
  for (const auto& [image, slide] : slides_) out["images"].push_back(image_json(slide));
  const auto everything = [](const SlideFacts&) { return true; };
  out["overall"] = group_json(cases, everything, all_scores_);
  out["cohorts"] = out["scanners"] = out["cases"] = Json::object();
  for (const auto& [name, scores] : cohort_scores_) {
    const auto holds = [&](const SlideFacts& facts) { return facts.cohort == name; };
    out["cohorts"][name] = group_json(cases, holds, scores);
  }
  for (const auto& [name, scores] : scanner_scores_) {
    const auto holds = [&](const SlideFacts& facts) { return facts.scanner == name; };
    out["scanners"][name] = group_json(cases, holds, scores);
  }
  for (const auto& [id, slides] : cases) out["cases"][id] = case_json(id, slides);
  return out;
}

std::optional<double> SlideMetrics::dice_to_choose_by() const {
  Confusion all(rules_.classes.size(), rules_.untold), tumour(2, rules_.tumour_untold());
  for (const auto& [image, slide] : slides_) {
    all += slide.counts.confusion;
    tumour += slide.counts.tumour;
  }
  const auto mean = all.mean_dice();
  return mean ? mean : tumour.dice(1);
}

}  // namespace headrace::measure
