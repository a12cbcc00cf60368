#include "learn/measure/slide/slide_group.hpp"

#include <algorithm>

#include "learn/measure/base/bootstrap.hpp"
#include "learn/measure/base/ratio.hpp"

namespace headrace::measure {
namespace {

constexpr std::uint32_t kStream = 0x736c6964u;  // "slid"

using Cases = std::span<const CaseSlides* const>;

template <typename Visit>
void each_slide(Cases cases, const Visit& visit) {
  for (const CaseSlides* of : cases) {
    for (const JudgedSlide* slide : of->slides) visit(*slide);
  }
}

/// Truth and prediction of the slides, or the cases, of a group.
struct Verdicts {
  ScoreCounts cancer;  ///< by predicted share of tumour
  std::vector<RatedSlide> rated;

  Verdicts(Cases cases, bool by_case) {
    ScoreCounter scores;
    const auto add = [&](const Verdict& verdict) {
      if (verdict.cancer) scores.add(score_of(static_cast<float>(verdict.share)), *verdict.cancer);
      if (verdict.truth)
        rated.push_back({verdict.truth->grade_group, verdict.predicted.grade_group});
    };
    for (const CaseSlides* of : cases) {
      if (by_case) add(of->verdict);
      for (const JudgedSlide* slide : of->slides) {
        if (!by_case) add(slide->verdict);
      }
    }
    cancer = scores.counts();
  }

  std::optional<double> accuracy() const {
    const auto right = std::count_if(rated.begin(), rated.end(), [](const RatedSlide& slide) {
      return slide.truth == slide.predicted;
    });
    return ratio(static_cast<std::uint64_t>(right), rated.size());
  }
};

struct Sums {
  Confusion confusion, tumour;
  Calibration calibration;
  std::vector<ObjectCounts> objects;
  std::uint64_t slides = 0, set_px = 0;
  Verdicts by_slide, by_case;

  Sums(Cases cases, const SlideRules& rules)
      : confusion(rules.classes.size(), rules.untold),
        tumour(2, rules.tumour_untold()),
        objects(rules.regions()),
        by_slide(cases, false),
        by_case(cases, true) {
    each_slide(cases, [&](const JudgedSlide& slide) {
      ++slides;
      confusion += slide.counts.confusion;
      tumour += slide.counts.tumour;
      calibration += slide.counts.calibration;
      for (std::size_t r = 0; r < objects.size(); ++r) objects[r] += slide.counts.objects[r];
      set_px += slide.counts.set_px();
    });
  }
};

ScoreCounts rounded_scores(Cases cases) {
  ScoreCounter scores;
  each_slide(cases, [&](const JudgedSlide& slide) { scores.add(slide.counts.scores); });
  return scores.counts();
}

/// Path of the structures of a region. The tumour's are beside its other figures, since a class may
/// have its name.
JsonPath object_path(const SlideRules& rules, std::size_t r) {
  if (r + 1 == rules.classes.size()) return {"tumour", "objects"};
  return {"objects", rules.classes[r + 1]};
}

std::vector<SlideFigure> figures_of(const Sums& sums, const SlideRules& rules,
                                    const ScoreCounts& pixels) {
  std::vector<SlideFigure> out;
  for (std::size_t c = 0; c < rules.classes.size(); ++c) {
    out.push_back({{"dice", rules.classes[c]}, sums.confusion.dice(c)});
    out.push_back({{"iou", rules.classes[c]}, sums.confusion.iou(c)});
  }
  out.push_back({{"mean_dice"}, sums.confusion.mean_dice()});
  out.push_back({{"tumour", "dice"}, sums.tumour.dice(1)});
  out.push_back({{"tumour", "iou"}, sums.tumour.iou(1)});
  out.push_back({{"tumour", "auc"}, area_under_roc(pixels)});
  for (std::size_t r = 0; r < rules.regions(); ++r) {
    auto path = object_path(rules, r);
    path.emplace_back("f1");
    out.push_back({path, sums.objects[r].f1()});
    path.back() = "pq";
    out.push_back({path, sums.objects[r].panoptic_quality()});
  }
  out.push_back({{"calibration", "ece"}, sums.calibration.expected_error()});
  out.push_back({{"calibration", "brier"}, sums.calibration.brier()});
  for (const auto& [key, verdicts] :
       {std::pair{"slides", &sums.by_slide}, std::pair{"cases", &sums.by_case}}) {
    out.push_back({{"detection", key, "auc"}, area_under_roc(verdicts->cancer)});
    out.push_back({{"detection", key, "sensitivity"},
                   sensitivity_at_specificity(verdicts->cancer, rules.specificity)});
  }
  if (!rules.gleason) return out;
  out.push_back({{"gleason", "kappa"}, quadratic_kappa(sums.by_slide.rated, kGradeGroups)});
  out.push_back({{"gleason", "accuracy"}, sums.by_slide.accuracy()});
  out.push_back(
      {{"gleason", "by_case", "kappa"}, quadratic_kappa(sums.by_case.rated, kGradeGroups)});
  out.push_back({{"gleason", "by_case", "accuracy"}, sums.by_case.accuracy()});
  return out;
}

/// Counts of a kappa: how many, and the matrix of grade groups (rows: truth).
void put_rated(Json& to, const std::vector<RatedSlide>& rated) {
  Confusion matrix(kGradeGroups);
  for (const RatedSlide& slide : rated)
    matrix.add(static_cast<std::size_t>(slide.truth), static_cast<std::size_t>(slide.predicted));
  for (std::size_t t = 0; t < kGradeGroups; ++t) {
    Json row = Json::array();
    for (std::size_t p = 0; p < kGradeGroups; ++p) row.push_back(matrix.at(t, p));
    to["matrix"].push_back(row);
  }
  if (to.at("kappa").is_null()) {
    to["why_no_kappa"] = rated.empty() ? "no slide has a known grade"
                                       : "every slide has the same grade, in truth and prediction";
  }
}

void put_counts(Json& json, const Sums& sums, const SlideRules& rules) {
  for (std::size_t r = 0; r < rules.regions(); ++r)
    put_at(json, object_path(rules, r), sums.objects[r].to_json());
  json["calibration"] = sums.calibration.to_json();
  json["images"] = sums.slides;
  json["set_pixels"] = sums.set_px;
  Json& tumour = json["tumour"];
  tumour["pixels"] = sums.tumour.total();
  tumour["positives"] = sums.tumour.truth_sum(1);
  tumour["classes"] = Json::array();
  for (std::size_t c = 0; c < rules.classes.size(); ++c) {
    if (rules.tumour[c]) tumour["classes"].push_back(rules.classes[c]);
  }
  if (!rules.stated) tumour["stated"] = false;
  json["detection"]["specificity"] = rules.specificity;
  for (const auto& [key, verdicts] :
       {std::pair{"slides", &sums.by_slide}, std::pair{"cases", &sums.by_case}}) {
    json["detection"][key]["positives"] = verdicts->cancer.positives();
    json["detection"][key]["negatives"] = verdicts->cancer.negatives();
  }
  if (!rules.gleason) return;
  Json& gleason = json["gleason"];
  gleason["slides"] = sums.by_slide.rated.size();
  put_rated(gleason, sums.by_slide.rated);
  gleason["by_case"]["cases"] = sums.by_case.rated.size();
  put_rated(gleason["by_case"], sums.by_case.rated);
}

}  // namespace

std::vector<SlideFigure> slide_figures(Cases cases, const SlideRules& rules,
                                       const ScoreCounts* pixel_scores) {
  return figures_of(Sums(cases, rules), rules,
                    pixel_scores != nullptr ? *pixel_scores : rounded_scores(cases));
}

Json slide_group_json(Cases cases, const SlideRules& rules, const ScoreCounts* pixel_scores,
                      std::int64_t resamples, std::uint64_t seed) {
  const Sums sums(cases, rules);
  const auto figures =
      figures_of(sums, rules, pixel_scores != nullptr ? *pixel_scores : rounded_scores(cases));
  Json json = sums.confusion.to_json(rules.classes);
  for (const auto& [path, value] : figures) put_at(json, path, or_null(value));
  put_counts(json, sums, rules);
  if (resamples == 0) return json;
  if (cases.size() < kLeastCasesOfIntervals) {
    json["no_interval"] = no_interval_text(cases.size());
    return json;
  }
  const auto resampled = [&](std::span<const std::size_t> drawn) {
    std::vector<const CaseSlides*> of;
    for (const std::size_t i : drawn) of.push_back(cases[i]);
    Figures values;
    for (const auto& [path, value] : slide_figures(of, rules, nullptr)) values.push_back(value);
    return values;
  };
  const auto intervals = bootstrap_intervals(cases.size(), resamples, seed, kStream, resampled);
  json["interval_95"] = Json::object();
  for (std::size_t i = 0; i < figures.size(); ++i)
    put_at(json["interval_95"], figures[i].first, or_null(intervals[i]));
  return json;
}

}  // namespace headrace::measure
