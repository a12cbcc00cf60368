// Figures of slides, for the comparison with other implementations.
// Usage: slide_figures_tool SPEC.json PIXELS.bin
// SPEC: {classes, class_sets, tumour: [classes], gleason, specificity, bootstrap,
// slides: [{case, height, width, grade: null or [primary, secondary]}]}. PIXELS holds slide after
// slide: labels (height, width) bytes, then probabilities (height, classes, width) float32; all 0
// where no tile lay. Prints {overall, slides: [what each was said to be]}.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "headrace/core/ignore_label.hpp"
#include "learn/measure/slide/slide_group.hpp"

namespace {

using headrace::Json;
using namespace headrace::measure;

std::string file_bytes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

SlideRules rules_of(const Json& spec) {
  const auto classes = spec.at("classes").get<std::vector<std::string>>();
  SlideRules rules;
  rules.classes = classes;
  rules.class_sets = headrace::class_sets_of(spec.at("class_sets"), classes, "spec");
  for (const std::string& name : classes) {
    const Json& tumour = spec.at("tumour");
    rules.tumour.push_back(std::find(tumour.begin(), tumour.end(), name) != tumour.end());
  }
  rules.specificity = spec.at("specificity").get<double>();
  rules.gleason = spec.at("gleason").get<bool>();
  if (rules.gleason) rules.patterns = headrace::measure::find_gleason_classes(classes);
  return rules;
}

/// Reads one slide from `bytes` on, and counts it.
SlideCounts counted(const Json& slide, const SlideRules& rules, const char*& bytes,
                    SlideMeter& meter) {
  const auto height = slide.at("height").get<std::size_t>(),
             width = slide.at("width").get<std::size_t>(), classes = rules.classes.size();
  const std::vector<std::uint8_t> truth(bytes, bytes + height * width);
  bytes += truth.size();
  std::vector<float> row(classes * width);
  for (std::size_t y = 0; y < height; ++y) {
    std::memcpy(row.data(), bytes, row.size() * sizeof(float));
    bytes += row.size() * sizeof(float);
    std::vector<std::uint8_t> predicted(width, headrace::kIgnoreLabel);
    for (std::size_t x = 0; x < width; ++x) {
      std::size_t best = 0;
      for (std::size_t c = 1; c < classes; ++c)
        best = row[c * width + x] > row[best * width + x] ? c : best;
      if (row[best * width + x] > 0) predicted[x] = static_cast<std::uint8_t>(best);
    }
    const auto* truth_row = truth.data() + y * width;
    meter.add({static_cast<std::int64_t>(y), predicted, {truth_row, width}, row}, "slide");
  }
  return meter.finish();
}

Json verdict_json(const Verdict& verdict) {
  const auto group = [](const auto& grade) { return grade ? Json(grade->grade_group) : Json(); };
  return {{"cancer", verdict.cancer ? Json(*verdict.cancer) : Json()},
          {"share", verdict.share},
          {"true_group", group(verdict.truth)},
          {"group", verdict.predicted.grade_group}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Json spec = headrace::parse_json(file_bytes(argv[1]), argv[1]);
  const std::string pixels = file_bytes(argv[2]);
  const SlideRules rules = rules_of(spec);
  SlideMeter meter(rules);
  ScoreCounter scores;
  std::vector<JudgedSlide> slides;
  const char* bytes = pixels.data();
  for (const Json& slide : spec.at("slides")) {
    StatedGrade grade;
    if (!slide.at("grade").is_null()) {
      grade.primary = slide.at("grade").at(0).get<int>();
      grade.secondary = slide.at("grade").at(1).get<int>();
    }
    JudgedSlide judged{{}, counted(slide, rules, bytes, meter), {}};
    judged.verdict = slide_verdict(grade, judged.counts, rules);
    scores.add(meter.exact_scores());
    slides.push_back(std::move(judged));
  }
  Json out = {{"slides", Json::array()}, {"cases", Json::object()}};
  std::map<std::string, CaseSlides> cases;
  for (std::size_t i = 0; i < slides.size(); ++i) {
    out["slides"].push_back(verdict_json(slides[i].verdict));
    const auto id = spec.at("slides").at(i).at("case").get<std::string>();
    cases[id].id = id;
    cases[id].slides.push_back(&slides[i]);
  }
  std::vector<const CaseSlides*> group;
  for (auto& [id, of] : cases) {
    of.verdict = case_verdict(of.slides, rules);
    out["cases"][id] = verdict_json(of.verdict);
    group.push_back(&of);
  }
  const ScoreCounts exact = scores.counts();
  out["overall"] =
      slide_group_json(group, rules, &exact, spec.at("bootstrap").get<std::int64_t>(), 7);
  fmt::print("{}\n", out.dump());
}
