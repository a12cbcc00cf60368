#include "learn/measure/volume/volume_metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "learn/measure/base/bootstrap.hpp"
#include "learn/measure/figure_table.hpp"

namespace headrace::measure {
namespace {

constexpr std::uint32_t kBootstrapStream = 0x766f6c62u;

/// Where a finding lies.
void put_centre(Json& to, const LesionFinding& finding, const VolumeFacts& facts) {
  if (!facts.affine_lps) {
    to["centre_zyx"] = finding.centre_zyx;
    return;
  }
  // Centre of voxel 0 is 0.5, its index 0.
  std::array<double, 3> index_xyz{};
  for (std::size_t axis = 0; axis < 3; ++axis) index_xyz[2 - axis] = finding.centre_zyx[axis] - 0.5;
  Json centre = Json::array();
  for (std::size_t row = 0; row < 3; ++row) {
    const double* m = facts.affine_lps->data() + 4 * row;
    centre.push_back(m[0] * index_xyz[0] + m[1] * index_xyz[1] + m[2] * index_xyz[2] + m[3]);
  }
  to["centre_lps_mm"] = std::move(centre);
}

Json finding_json(const LesionFinding& finding, const VolumeFacts& facts) {
  Json out = {{"voxels", finding.voxels},
              {"volume_mm3", finding.volume_mm3},
              {"diameter_mm", ball_diameter_mm(finding.volume_mm3)},
              {"overlap", finding.overlap}};
  put_centre(out, finding, facts);
  return out;
}

std::vector<const CaseVolumes*> pointers_to(const std::vector<CaseVolumes>& cases) {
  std::vector<const CaseVolumes*> out;
  for (const CaseVolumes& of : cases) out.push_back(&of);
  return out;
}

}  // namespace

std::string scanner_group(const std::string& scanner) {
  return scanner.empty() ? "not stated" : scanner;
}

VolumeMetrics::VolumeMetrics(VolumeRules rules, GroupRules group_rules, std::int64_t resamples,
                             std::uint64_t seed)
    : rules_(std::move(rules)),
      group_rules_(std::move(group_rules)),
      resamples_(resamples),
      seed_(seed) {}

void VolumeMetrics::add(std::uint32_t image, VolumeFacts facts, VolumeFigures figures) {
  VolumeFigures rounded = figures;
  rounded.lesion_scores = figures.lesion_scores.rounded();
  rounded_.insert_or_assign(image, std::move(rounded));
  images_.insert_or_assign(image, std::move(figures));
  facts_.insert_or_assign(image, std::move(facts));
}

std::vector<CaseVolumes> VolumeMetrics::cases_of(
    const Group& group, const std::map<std::uint32_t, VolumeFigures>& figures) const {
  std::map<std::string, CaseVolumes> by_case;
  for (const std::uint32_t image : group)
    by_case[facts_.at(image).case_id].volumes.push_back(&figures.at(image));
  std::vector<CaseVolumes> out;
  for (auto& [name, volumes] : by_case) out.push_back(std::move(volumes));
  return out;
}

Json VolumeMetrics::intervals_json(const Group& group) const {
  const auto cases = cases_of(group, rounded_);
  Json out = Json::object();
  const auto resampled = [&](std::span<const std::size_t> drawn) {
    std::vector<const CaseVolumes*> of;
    for (const std::size_t i : drawn) of.push_back(&cases[i]);
    Figures values;
    for (const GroupFigure& figure : group_figures(of, group_rules_))
      values.push_back(figure.value);
    return values;
  };
  const auto intervals =
      bootstrap_intervals(cases.size(), resamples_, seed_, kBootstrapStream, resampled);
  const auto names = group_figures(pointers_to(cases), group_rules_);
  for (std::size_t f = 0; f < intervals.size(); ++f)
    put_at(out, names[f].path, or_null(intervals[f]));
  return out;
}

Json VolumeMetrics::group_json(const Group& group, bool intervals) const {
  const auto cases = cases_of(group, images_);
  Json out = measure::group_json(pointers_to(cases), group_rules_);
  if (!intervals || resamples_ == 0) return out;
  if (cases.size() < kLeastCasesOfIntervals) {
    out["no_interval"] = no_interval_text(cases.size());
  } else {
    out["interval_95"] = intervals_json(group);
  }
  return out;
}

Json VolumeMetrics::image_json(std::uint32_t image) const {
  const VolumeFacts& facts = facts_.at(image);
  const VolumeFigures& figures = images_.at(image);
  const auto& classes = group_rules_.classes;
  Json out = figures.confusion.to_json(classes);
  out["voxels"] = out.at("pixels");
  out.erase("pixels");
  out["set_voxels"] = figures.set_voxels;
  out["id"] = facts.id;
  out["case"] = facts.case_id;
  out["cohort"] = or_null(facts.cohort);
  out["phase"] = or_null(facts.phase);
  out["scanner"] = or_null(facts.scanner);
  for (std::size_t c = 1; c < classes.size(); ++c) {
    for (const Figure* row : figures_of_volumes())
      put_at(out, row->image_path(classes[c]), or_null((figures.*row->values)[c]));
    out["structure"][classes[c]] = or_null(figures.structure(c));
  }
  out["calibration"] = {{"ece", or_null(figures.calibration.expected_error())},
                        {"brier", or_null(figures.calibration.brier())}};
  if (rules_.lesion_classes.empty()) return out;
  const Calibration voxels = calibration_of(figures.lesion_scores);
  out["lesion_voxel"] = {{"auc", or_null(area_under_roc(figures.lesion_scores))},
                         {"ece", or_null(voxels.expected_error())},
                         {"brier", or_null(voxels.brier())}};
  out["lesions"] = out["calls"] = Json::array();
  for (const LesionFinding& lesion : figures.lesions) {
    Json json = finding_json(lesion, facts);
    json["hit"] = lesion.matched;
    json["score"] = lesion.matched ? Json(lesion.score) : Json(nullptr);
    out["lesions"].push_back(std::move(json));
  }
  for (const LesionFinding& call : figures.calls) {
    Json json = finding_json(call, facts);
    json["hit"] = call.matched;
    json["score"] = call.score;
    out["calls"].push_back(std::move(json));
  }
  return out;
}

Json VolumeMetrics::to_json(bool intervals) const {
  Group all;
  std::map<std::string, Group> cohorts, scanners, phases, cases;
  const auto& classes = group_rules_.classes;
  Json out = {{"classes", classes},
              {"labels", label_names(classes, rules_.class_sets)},
              {"class_sets", headrace::to_json(rules_.class_sets, classes)},
              {"images", Json::array()}};
  for (const auto& [image, figures] : images_) {
    const VolumeFacts& facts = facts_.at(image);
    out["images"].push_back(image_json(image));
    all.push_back(image);
    cases[facts.case_id].push_back(image);
    if (facts.cohort) cohorts[*facts.cohort].push_back(image);
    if (facts.scanner) scanners[*facts.scanner].push_back(image);
    if (facts.phase) phases[*facts.phase].push_back(image);
  }
  out["lesion_classes"] = Json::array();
  for (const std::uint8_t value : rules_.lesion_classes)
    out["lesion_classes"].push_back(classes[value]);
  if (group_rules_.lesions) {
    out["lesion_probability"] = group_rules_.operating_score;
    out["lesion_specificity"] = group_rules_.specificity;
    out["lesion_diameters_mm"] = group_rules_.diameters_mm;
  }
  out["overall"] = group_json(all, intervals);
  out["cohorts"] = out["scanners"] = out["phases"] = out["cases"] = Json::object();
  for (const auto& [name, group] : cohorts) out["cohorts"][name] = group_json(group, intervals);
  if (scanners.size() > 1 ||
      (!scanners.empty() && scanners.begin()->first != "")) {  // a table states them
    for (const auto& [name, group] : scanners)
      out["scanners"][scanner_group(name)] = group_json(group, intervals);
  }
  for (const auto& [name, group] : phases) out["phases"][name] = group_json(group, intervals);
  for (const auto& [name, group] : cases) out["cases"][name] = group_json(group, false);
  return out;
}

std::optional<double> VolumeMetrics::mean_dice() const {
  Group all;
  for (const auto& [image, figures] : images_) all.push_back(image);
  return group_figures(pointers_to(cases_of(all, images_)), group_rules_).front().value;
}

}  // namespace headrace::measure
