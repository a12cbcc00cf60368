#include "learn/train/evaluate/chosen_figure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/yaml.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/measure/figure_names.hpp"
#include "learn/measure/volume/volume_metrics.hpp"
#include "learn/train/run/run_identity.hpp"

namespace headrace::train {
namespace {

using config::BestOver;
using config::BetterWhen;
using config::RunConfig;

constexpr const char* kMeanDice = "mean_dice";

std::string name_of_figure(const RunConfig& config) {
  return config.train.best.figure.empty() ? kMeanDice : config.train.best.figure;
}

bool less_is_better(const RunConfig& config) {
  if (config.train.best.better != BetterWhen::automatic)
    return config.train.best.better == BetterWhen::less;
  return measure::smaller_is_better(config.train.best.figure);
}

/// The key of the groups in eval.json, and what one of them is called.
struct Groups {
  const char *key, *word;
};

std::optional<Groups> groups_over(const RunConfig& config) {
  switch (config.train.best.over) {
    case BestOver::worst_cohort:
      return Groups{"cohorts", "cohort"};
    case BestOver::worst_scanner:
      return Groups{"scanners", "scanner"};
    case BestOver::worst_phase:
      return Groups{"phases", "phase"};
    case BestOver::overall:
      break;
  }
  return std::nullopt;
}

std::optional<double> value_in(const Json& group, const RunConfig& config) {
  const auto named = measure::figure_of_group(group, name_of_figure(config));
  if (named && named->value) return named->value;
  if (!config.train.best.figure.empty()) return std::nullopt;
  // Slides whose labels do not tell the classes apart are judged by the tumour, as overall.
  const auto tumour = measure::figure_of_group(group, "tumour.dice");
  return tumour ? tumour->value : std::nullopt;
}

/// The name in eval.json of an image's group; empty where it is in none.
std::string group_of(const cohort::ImageRecord& image, BestOver over) {
  if (over == BestOver::worst_cohort) return image.cohort;
  if (over == BestOver::worst_phase) return image.volume ? image.volume->phase : "";
  return image.volume ? measure::scanner_group(image.scanner) : image.scanner;
}

/// Groups of the split to judge by in which no image has a truth: no network has a figure there.
std::set<std::string> groups_without_truth(const cohort::Cohort& cohort, const RunConfig& config) {
  std::set<std::string> without, with;
  for (const cohort::ImageRecord& image : cohort.images()) {
    if (image.split != config.data.val) continue;
    (has_truth(image, config) ? with : without).insert(group_of(image, config.train.best.over));
  }
  for (const std::string& name : with) without.erase(name);
  return without;
}

void check_groups(const cohort::Cohort& cohort, const RunConfig& config) {
  const BestOver over = config.train.best.over;
  if (over == BestOver::worst_phase && !config.volumes) {
    fail(ErrorCode::usage,
         "train.best.over is 'worst_phase', but slides have no phases. Take worst_cohort, "
         "worst_scanner or overall.");
  }
  if (over != BestOver::worst_scanner) return;
  const auto& images = cohort.images();
  if (std::any_of(images.begin(), images.end(), [&](const cohort::ImageRecord& image) {
        return image.split == config.data.val && !image.scanner.empty();
      }))
    return;
  fail(ErrorCode::usage,
       "{}: train.best.over is 'worst_scanner', but no image of split '{}' states its scanner. "
       "Take worst_cohort or overall, or give the table a column scanner.",
       cohort.path(), config.data.val);
}

}  // namespace

ChosenFigure chosen_figure(const Evaluation& evaluation, const cohort::Cohort& cohort,
                           const RunConfig& config) {
  const auto over = groups_over(config);
  if (!over) {
    ChosenFigure out{config.train.best.figure.empty()
                         ? evaluation.mean_dice
                         : value_in(evaluation.json.at("overall"), config),
                     {}};
    if (!out.value) out.undefined_in = "all images together";
    return out;
  }
  ChosenFigure worst;
  const std::set<std::string> without_truth = groups_without_truth(cohort, config);
  for (const auto& [name, group] : evaluation.json.at(over->key).items()) {
    if (without_truth.contains(name)) continue;
    const auto value = value_in(group, config);
    if (!value) return {std::nullopt, fmt::format("{} '{}'", over->word, name)};
    if (!worst.value || is_better(*worst.value, *value, 0, config)) worst.value = value;
  }
  if (!worst.value) worst.undefined_in = fmt::format("every {}", over->word);
  return worst;
}

bool is_better(double value, double than, double by, const RunConfig& config) {
  return less_is_better(config) ? value < than - by : value > than + by;
}

void check_chosen_figure(const cohort::Cohort& cohort, const RunConfig& config) {
  check_groups(cohort, config);
  const std::string& wanted = config.train.best.figure;
  if (wanted.empty()) return;
  const std::vector<std::string> names = config::figure_names(cohort.classes(), config);
  if (std::find(names.begin(), names.end(), wanted) != names.end()) return;
  const auto nearest = nearest_name(wanted, names);
  fail(ErrorCode::usage,
       "train.best.figure is '{}', which is no figure of this run's evaluation{}.", wanted,
       nearest ? fmt::format("; did you mean '{}'?", *nearest)
               : fmt::format("; there are {}", fmt::join(names, ", ")));
}

bool has_chosen_figure(const RunConfig& config) {
  const RunConfig::Train::Best& best = config.train.best;
  return !best.figure.empty() || best.over != BestOver::overall ||
         best.better != BetterWhen::automatic;
}

std::string chosen_figure_text(const RunConfig& config) {
  const auto over = groups_over(config);
  return over ? fmt::format("{} of the worst {}", name_of_figure(config), over->word)
              : name_of_figure(config);
}

}  // namespace headrace::train
