#include "headrace/runs/promotion_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/json_changes.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/measure/figure_names.hpp"

namespace headrace::runs {
namespace {

/// Keys of `eval` that change how tiles are made or what is counted beside figures, not the figures'
/// meaning.
const std::set<std::string> kOfNoMeaning{"eval.batch", "eval.bootstrap", "eval.overlap",
                                         "eval.subset", "eval.window"};

/// What of a config says what figures mean.
Json meaning_of(const Json& config) {
  const Json& data = config.at("data");
  return {{"task", config.at("task")},
          {"data", {{"labels", data.at("labels")}, {"outside", data.at("outside")}}},
          {"eval", config.at("eval")}};
}

void check_same_meaning(const PromotionCandidate& candidate, const RunFolder& promoted) {
  std::vector<std::string> changes;
  for (const JsonChange& change : changes_between(meaning_of(promoted.read_json("config.json")),
                                                  meaning_of(candidate.config))) {
    if (!kOfNoMeaning.contains(change.key))
      changes.push_back(
          fmt::format("{} {} and {}", change.key, change.before.dump(), change.after.dump()));
  }
  if (changes.empty()) return;
  fail(ErrorCode::usage,
       "The promoted model was judged by other rules ({}), so its figures can't be compared. Train "
       "with the same, or say why there is no comparison: {} \"…\"",
       fmt::join(changes, "; "), Option{"without_comparison"});
}

NamedEvaluation evaluation_of_promoted(const PromotionCandidate& candidate,
                                       const RunFolder& promoted, const Json& log_line) {
  const Json& ours = candidate.evaluation.json;
  if (auto found = find_evaluation(promoted, log_line.at("weights_sha256"), ours)) return *found;
  // The path of its store, where the candidate was judged on that of its own training.
  const bool own = ours.value("dataset_hash", "") == candidate.run.at("dataset_hash");
  const std::string store = own ? candidate.run.at("store").get<std::string>()
                                : ours.value("store", std::string("STORE"));
  fail(ErrorCode::usage,
       "{} was not evaluated on the images that the new one was (split {}, dataset {}), so nothing "
       "says whether it got worse. Evaluate it on them: headrace eval {} {} {} {} {} {}; or say "
       "why there is no comparison: {} \"…\"",
       promoted.path().string(), ours.value("split", ""),
       ours.value("dataset_hash", "").substr(0, 16), Option{"run"}, promoted.path().string(),
       Option{"store"}, store, Option{"split"}, ours.value("split", ""),
       Option{"without_comparison"});
}

/// The figures to compare, with their margins.
std::map<std::string, std::optional<double>> figures_of(
    const PromotionCandidate& candidate, const measure::Gate& gates,
    const std::map<std::string, double>& margins) {
  std::map<std::string, std::optional<double>> out;
  for (const measure::GateFigure& figure : gates.check(candidate.evaluation.json).figures) {
    auto& margin = out[figure.figure];
    const auto& asked = figure.asked.worse_than_promoted;
    if (asked && (!margin || *asked < *margin)) margin = asked;  // of several the strictest
  }
  std::vector<std::string> known;
  for (const auto& figure : measure::figures_of_group(candidate.evaluation.json.at("overall")))
    known.push_back(figure.name);
  for (const auto& [name, margin] : margins) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto nearest = nearest_name(name, known);
      fail(ErrorCode::usage, "{} {}: {} has no such figure{}", Option{"worse"}, name,
           candidate.evaluation.origin,
           nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    }
    out[name] = margin;
  }
  return out;
}

WorseCheck check_of(const ComparedGroup& group, const ComparedFigure& figure, double margin) {
  WorseCheck out{group.group, figure, margin, {}};
  if (!figure.difference) return out;
  const bool smaller = measure::smaller_is_better(figure.figure);
  const double worst = !figure.interval ? *figure.difference
                       : smaller        ? (*figure.interval)[1]
                                        : (*figure.interval)[0];
  out.worse_by = smaller ? worst : -worst;
  return out;
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "undefined";
}

const char* verdict_of(const WorseCheck& check) {
  if (check.passed()) return "not worse";
  const auto& difference = check.figure.difference;
  if (!difference) return "WORSE";
  const bool smaller = measure::smaller_is_better(check.figure.figure);
  return (smaller ? *difference : -*difference) > check.margin ? "WORSE" : "MAY BE WORSE";
}

std::string line_of(const WorseCheck& check) {
  const ComparedFigure& figure = check.figure;
  const std::string name =
      check.group == "overall" ? figure.figure : check.group + "." + figure.figure;
  const std::string end =
      figure.interval
          ? fmt::format(" (difference {:+.4f}, 95 % interval {:+.4f} to {:+.4f})",
                        *figure.difference, (*figure.interval)[0], (*figure.interval)[1])
          : "";
  return fmt::format("{}: {} {} -> {}{}, at most {} worse asked for\n", verdict_of(check), name,
                     number(figure.before), number(figure.after), end, check.margin);
}

}  // namespace

bool WorseCheck::passed() const {
  if (!figure.before) return true;  // there is nothing that could have got worse
  return worse_by && *worse_by <= margin;
}

bool PromotionComparison::passed() const {
  return std::all_of(checks.begin(), checks.end(),
                     [](const WorseCheck& check) { return check.passed(); });
}

Json PromotionComparison::to_json() const {
  Json out = {{"model", model}, {"passed", passed()}, {"figures", Json::array()}};
  for (const WorseCheck& check : checks) {
    const ComparedFigure& figure = check.figure;
    Json one = {{"figure", figure.figure},
                {"group", check.group},
                {"before", or_null(figure.before)},
                {"after", or_null(figure.after)},
                {"difference", or_null(figure.difference)},
                {"interval_95", or_null(figure.interval)},
                {"margin", check.margin},
                {"worse_by", or_null(check.worse_by)},
                {"passed", check.passed()}};
    out["figures"].push_back(std::move(one));
  }
  return out;
}

std::string PromotionComparison::text() const {
  std::string out;
  for (const WorseCheck& check : checks) out += line_of(check);
  return out;
}

double default_margin(const std::string& figure, bool count) {
  if (count) return 0;
  if (figure.starts_with("hd95")) return 1;
  return figure.ends_with("false_positives_per_scan") ? 0.25 : 0.02;
}

PromotionComparison compare_with_promoted(const PromotionCandidate& candidate,
                                          const RunFolder& promoted, const Json& log_line,
                                          const measure::Gate& gates,
                                          const std::map<std::string, double>& margins) {
  check_same_meaning(candidate, promoted);
  const NamedEvaluation before = evaluation_of_promoted(candidate, promoted, log_line);
  const auto figures = figures_of(candidate, gates, margins);
  const ComparedEvaluations compared = compare_evaluations(
      before, candidate.evaluation,
      [](const std::string& kind) { return kind == "overall" || kind == "cohorts"; });
  PromotionComparison out{log_line.at("model"), {}};
  for (const ComparedGroup& group : compared.groups) {
    for (const auto& [name, margin] : figures) {
      const auto found = std::find_if(
          group.figures.begin(), group.figures.end(),
          [&, &wanted = name](const ComparedFigure& one) { return one.figure == wanted; });
      if (found == group.figures.end()) continue;
      out.checks.push_back(
          check_of(group, *found, margin.value_or(default_margin(name, found->count))));
    }
  }
  return out;
}

}  // namespace headrace::runs
