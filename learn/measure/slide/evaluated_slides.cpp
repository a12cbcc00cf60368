#include "learn/measure/slide/evaluated_slides.hpp"

#include <algorithm>

#include "learn/measure/base/evaluated_counts.hpp"

namespace headrace::measure {
namespace {

GleasonGrade grade_of(const Json& json) {
  GleasonGrade grade;
  grade.primary = json.at("primary");
  grade.secondary = json.at("secondary");
  grade.grade_group = json.at("grade_group");
  grade.tertiary = json.value("tertiary", 0);
  return grade;
}

Verdict verdict_of(const Json& json, bool gleason) {
  Verdict verdict;
  if (!json.at("cancer").is_null()) verdict.cancer = json.at("cancer").get<bool>();
  verdict.share = json.at("tumour_share");
  if (!gleason) return verdict;
  verdict.predicted = grade_of(json.at("predicted_grade"));
  const Json& truth = json.at("true_grade");
  if (truth.is_null()) return verdict;
  verdict.truth = grade_of(truth);
  verdict.from = truth.value("from", "");
  return verdict;
}

SlideRules rules_of(const Json& evaluation) {
  const Json& overall = evaluation.at("overall");
  SlideRules rules;
  rules.classes = evaluation.at("classes").get<std::vector<std::string>>();
  rules.untold = untold_classes(evaluation);
  rules.gleason = overall.contains("gleason");
  rules.specificity = overall.at("detection").at("specificity");
  rules.tumour.assign(rules.classes.size(), false);
  rules.stated = overall.at("tumour").value("stated", true);
  for (const Json& name : overall.at("tumour").at("classes")) {
    const auto found = std::find(rules.classes.begin(), rules.classes.end(), name);
    if (found != rules.classes.end())
      rules.tumour[static_cast<std::size_t>(found - rules.classes.begin())] = true;
  }
  return rules;
}

/// Not tumour, tumour: of pixels with a plain class.
Confusion tumour_of(const Confusion& classes, const SlideRules& rules) {
  Confusion out(2, rules.tumour_untold());
  for (std::size_t t = 0; t < classes.classes(); ++t) {
    for (std::size_t p = 0; p < classes.classes(); ++p)
      out.add(rules.tumour[t] ? 1 : 0, rules.tumour[p] ? 1 : 0, classes.at(t, p));
  }
  return out;
}

JudgedSlide slide_of(const Json& image, const SlideRules& rules) {
  SlideFacts facts;
  put_image_facts(image, facts);
  SlideCounts counts(rules);
  counts.confusion = confusion_of(image, rules.classes.size(), rules.untold);
  counts.tumour = tumour_of(counts.confusion, rules);
  for (std::size_t r = 0; r + 1 < rules.regions(); ++r)
    counts.objects[r] = ObjectCounts::from_json(image.at("objects").at(rules.classes[r + 1]));
  counts.objects.back() = ObjectCounts::from_json(image.at("tumour").at("objects"));
  for (std::size_t c = 0; c < rules.classes.size(); ++c)
    counts.predicted_px[c] = image.at("predicted_px").at(rules.classes[c]);
  return {std::move(facts), std::move(counts), verdict_of(image, rules.gleason)};
}

}  // namespace

bool EvaluatedSlides::knows(const JsonPath& figure) const {
  if (figure.front() == "calibration") return false;
  if (figure.front() != "tumour" || figure[1] == "objects") return true;
  return tumour_known && figure[1] != "auc";
}

EvaluatedSlides evaluated_slides(const Json& evaluation, const std::string& origin) {
  return read_evaluation(origin, [&] {
    EvaluatedSlides out;
    out.rules = rules_of(evaluation);
    for (const Json& image : evaluation.at("images")) {
      check_matrix(image, origin);
      out.slides.push_back(slide_of(image, out.rules));
      out.tumour_known &=
          out.slides.back().counts.tumour.total() == image.at("tumour").at("pixels");
    }
    for (const auto& [id, json] : evaluation.at("cases").items())
      out.cases.emplace(id, verdict_of(json, out.rules.gleason));
    return out;
  });
}

}  // namespace headrace::measure
