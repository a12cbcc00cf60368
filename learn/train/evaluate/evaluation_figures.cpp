#include "learn/train/evaluate/evaluation_figures.hpp"

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/json_fault.hpp"

namespace headrace::train {
namespace {

std::optional<double> figure_at(const Json& group, const JsonPath& path) {
  const Json* value = find_at(group, path);
  return value == nullptr || value->is_null() ? std::nullopt : std::optional(value->get<double>());
}

GroupFigures group_figures(const Json& group) {
  GroupFigures figures;
  figures.images = group.at("images").get<std::int64_t>();
  for (const auto& [name, dice] : group.at("dice").items())
    figures.dice[name] = figure_at(group, {"dice", name});
  figures.mean_dice = figure_at(group, {"mean_dice"});
  figures.detection_auc = figure_at(group, {"detection", "slides", "auc"});
  figures.kappa = figure_at(group, {"gleason", "kappa"});
  figures.froc = figure_at(group, {"lesion", "froc"});
  figures.sensitivity_at_1 = figure_at(group, {"lesion", "sensitivity_at_1"});
  return figures;
}

std::map<std::string, GroupFigures> groups_at(const Json& evaluation, const char* key) {
  std::map<std::string, GroupFigures> groups;
  const Json* named = find_at(evaluation, {key});
  if (named == nullptr) return groups;
  for (const auto& [name, group] : named->items()) groups[name] = group_figures(group);
  return groups;
}

}  // namespace

EvaluationFigures::EvaluationFigures(Json evaluation) : json(std::move(evaluation)) {
  try {
    const auto names = [&](const char* key) {
      return json.at(key).get<std::vector<std::string>>();
    };
    split = json.at("split").get<std::string>();
    dataset_hash = json.at("dataset_hash").get<std::string>();
    classes = names("classes");
    overall = group_figures(json.at("overall"));
    cohorts = groups_at(json, "cohorts");
    scanners = groups_at(json, "scanners");
    phases = groups_at(json, "phases");
    unknown_classes = names("unknown_classes");
    missing_classes = names("missing_classes");
    unknown_scanners = names("unknown_scanners");
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "an evaluation's figures: {}", json_fault(error));
  }
}

}  // namespace headrace::train
