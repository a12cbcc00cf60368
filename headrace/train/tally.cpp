#include "headrace/train/tally.hpp"

#include <array>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/train/gleason_grade.hpp"

namespace headrace::train {
namespace {

Json grade_json(const std::optional<GleasonGrade>& grade) {
  if (!grade) return nullptr;
  Json out = {{"primary", grade->primary},
              {"secondary", grade->secondary},
              {"grade_group", grade->grade_group}};
  if (grade->tertiary > 0) out["tertiary"] = grade->tertiary;
  return out;
}

GradingRule rule_of(const loader::RunConfig::Eval& eval) {
  return {specimen_of(eval.grading), eval.min_cancer, eval.min_area, eval.min_higher};
}

}  // namespace

Tally::Tally(const source::Cohort& cohort, const loader::RunConfig& config)
    : cohort_(cohort), config_(config) {
  if (config.task == "gleason") find_gleason_classes(cohort.classes());
}

void Tally::add(const StitchedPart& row) {
  const std::size_t classes = cohort_.classes().size();
  ImageTally& tally = images_.try_emplace(row.image, classes).first->second;
  for (std::size_t x = 0; x < row.predicted.size(); ++x) {
    const std::uint8_t predicted = row.predicted[x], truth = row.truth[x];
    if (predicted == kIgnoreLabel) continue;
    ++tally.predicted_px[predicted];
    if (truth == kIgnoreLabel) continue;
    if (truth >= classes) {
      fail(ErrorCode::malformed,
           "image {}: label {} at row {}, column {}; the store has classes 0 to {}.",
           cohort_.images()[row.image].id, truth, row.at, x, classes - 1);
    }
    ++tally.truth_px[truth];
    tally.confusion.add(truth, predicted);
  }
}

/// The grade of the table, else the grade that the annotated areas make.
static std::optional<GleasonGrade> true_grade(const source::ImageRecord& record,
                                              const ImageTally& tally,
                                              const GleasonClasses& classes,
                                              const loader::RunConfig::Eval& eval,
                                              std::string& from) {
  from = "table";
  if (record.primary && record.secondary) {
    const int group = isup_grade_group(*record.primary, *record.secondary);
    return GleasonGrade{*record.primary, *record.secondary, record.grade_group.value_or(group)};
  }
  if (record.grade_group) return GleasonGrade{0, 0, *record.grade_group};
  if (tally.confusion.total() == 0) return std::nullopt;
  from = "annotation";
  return grade_from_areas(tally.truth_px, classes, rule_of(eval));
}

Json Tally::image_json(std::uint32_t image, const ImageTally& tally,
                       std::vector<RatedSlide>* rated) const {
  const source::ImageRecord& record = cohort_.images()[image];
  Json out = tally.confusion.to_json(cohort_.classes());
  out.erase("matrix");
  out["id"] = record.id;
  out["case"] = record.case_id;
  out["cohort"] = record.cohort;
  out["scanner"] = record.scanner;
  for (std::size_t c = 0; c < cohort_.classes().size(); ++c) {
    out["predicted_px"][cohort_.classes()[c]] = tally.predicted_px[c];
  }
  if (rated == nullptr) return out;
  const GleasonClasses classes = find_gleason_classes(cohort_.classes());
  const GleasonGrade predicted =
      grade_from_areas(tally.predicted_px, classes, rule_of(config_.eval));
  std::string from;
  const auto truth = true_grade(record, tally, classes, config_.eval, from);
  out["predicted_grade"] = grade_json(predicted);
  out["true_grade"] = grade_json(truth);
  if (truth) {
    out["true_grade"]["from"] = from;
    rated->push_back({record.case_id, truth->grade_group, predicted.grade_group});
  }
  return out;
}

Json Tally::kappa_json(const std::vector<RatedSlide>& rated) const {
  const auto kappa = quadratic_kappa(rated, kGradeGroups);
  Json out = {{"slides", rated.size()}, {"kappa", kappa ? Json(*kappa) : Json(nullptr)}};
  if (!kappa) {
    out["why_no_kappa"] = rated.empty() ? "no slide has a known grade"
                                        : "every slide has the same grade, in truth and prediction";
  }
  Confusion matrix(kGradeGroups);
  std::uint64_t right = 0;
  for (const RatedSlide& slide : rated) {
    matrix.add(static_cast<std::size_t>(slide.truth), static_cast<std::size_t>(slide.predicted));
    right += slide.truth == slide.predicted ? 1 : 0;
  }
  for (std::size_t t = 0; t < kGradeGroups; ++t) {
    Json row = Json::array();
    for (std::size_t p = 0; p < kGradeGroups; ++p) row.push_back(matrix.at(t, p));
    out["matrix"].push_back(row);
  }
  if (!rated.empty()) {
    out["accuracy"] = static_cast<double>(right) / static_cast<double>(rated.size());
  }
  if (config_.eval.bootstrap > 0) {
    const auto interval =
        bootstrap_kappa(rated, kGradeGroups, config_.eval.bootstrap, config_.sampling.seed);
    out["kappa_95"] = interval ? Json(*interval) : Json(nullptr);
  }
  return out;
}

Json Tally::to_json() const {
  const auto& names = cohort_.classes();
  const bool gleason = config_.task == "gleason";
  struct Group {
    explicit Group(std::size_t classes) : confusion(classes) {}
    Confusion confusion;
    std::vector<RatedSlide> rated;
    std::uint64_t images = 0;
  };
  Group overall(names.size());
  std::map<std::string, Group> cohorts, scanners;
  Json out = {{"classes", names}, {"images", Json::array()}};
  for (const auto& [image, tally] : images_) {
    const source::ImageRecord& record = cohort_.images()[image];
    std::vector<RatedSlide> rated;
    out["images"].push_back(image_json(image, tally, gleason ? &rated : nullptr));
    for (Group* group : {&overall, &cohorts.try_emplace(record.cohort, names.size()).first->second,
                         &scanners.try_emplace(record.scanner, names.size()).first->second}) {
      group->confusion += tally.confusion;
      group->rated.insert(group->rated.end(), rated.begin(), rated.end());
      ++group->images;
    }
  }
  const auto describe = [&](const Group& group) {
    Json json = group.confusion.to_json(names);
    json["images"] = group.images;
    if (gleason) json["gleason"] = kappa_json(group.rated);
    return json;
  };
  out["overall"] = describe(overall);
  out["cohorts"] = out["scanners"] = Json::object();
  for (const auto& [name, group] : cohorts) out["cohorts"][name] = describe(group);
  for (const auto& [name, group] : scanners) out["scanners"][name] = describe(group);
  return out;
}

double Tally::mean_dice() const {
  Confusion all(cohort_.classes().size());
  for (const auto& [image, tally] : images_) all += tally.confusion;
  return all.mean_dice().value_or(0);
}

}  // namespace headrace::train
