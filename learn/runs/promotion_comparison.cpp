#include "learn/runs/promotion_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/shell_word.hpp"
#include "headrace/core/yaml.hpp"
#include "learn/measure/base/bootstrap.hpp"
#include "learn/measure/figure_names.hpp"
#include "learn/measure/figure_table.hpp"
#include "learn/runs/evaluation_check.hpp"
#include "learn/runs/trained_cases.hpp"
#include "learn/runs/weights_identity.hpp"

namespace headrace::runs {
namespace {

void check_same_meaning(const PromotionCandidate& candidate, const RunFolder& promoted) {
  Json one = rules_of(promoted.read_json("config.json")), other = rules_of(candidate.config);
  one["classes"] = promoted.read_json(kEvaluation).value("classes", Json());
  other["classes"] = candidate.evaluation.json.value("classes", Json());
  const std::vector<std::string> changes = rule_changes(one, other);
  if (changes.empty()) return;
  fail(ErrorCode::usage,
       "The promoted model was judged by other rules ({}), so its figures can't be compared. Train "
       "with the same, or say why there is no comparison: {} \"…\"",
       fmt::join(changes, "; "), Option{"without_comparison"});
}

/// Whether the split that a run judges by is made by data.folds: no other run can be judged by its
/// images, of which it trained on some.
bool judges_by_fold(const Json& evaluation, const Json& config) {
  const Json& data = config.at("data");
  const Json split = evaluation.value("split", Json());
  return data.contains("folds") &&
         (split == data.value("train", Json()) || split == data.value("val", Json()));
}

/// Folds have other images by one name, and `headrace eval` gives a run only its own.
void check_not_of_folds(const PromotionCandidate& candidate, const RunFolder& promoted) {
  const Json& ours = candidate.evaluation.json;
  if (!judges_by_fold(ours, candidate.config) &&
      !judges_by_fold(ours, promoted.read_json("config.json")))
    return;
  fail(
      ErrorCode::usage,
      "{} was not evaluated on the images that the new one was, and can't be: split {} is a fold of "
      "data.folds, and other folds' networks trained on its patients. Evaluate both on a split that "
      "neither trained on (headrace eval {} RUN {} test) and promote by that ({}); or say why there "
      "is no comparison: {} \"…\"",
      promoted.path().string(), ours.value("split", ""), Option{"run"}, Option{"split"},
      Option{"evaluation"}, Option{"without_comparison"});
}

/// The log of an earlier version has the file's hash, a later evaluation the weights' identity.
std::set<std::string> hashes_of_promoted(const RunFolder& promoted, const Json& log_line) {
  std::set<std::string> out;
  if (promoted.has(kFinalWeights))
    out = weights_hashes(promoted.read(kFinalWeights), promoted.describe(kFinalWeights));
  out.insert(log_line.at("weights_sha256").get<std::string>());
  return out;
}

NamedEvaluation evaluation_of_promoted(const PromotionCandidate& candidate,
                                       const RunFolder& promoted, const Json& log_line) {
  const Json& ours = candidate.evaluation.json;
  if (auto found = find_evaluation(promoted, hashes_of_promoted(promoted, log_line), ours))
    return *found;
  check_not_of_folds(candidate, promoted);
  // The path of its store, where the candidate was judged on that of its own training.
  const bool own = ours.value("dataset_hash", "") == candidate.run.at("dataset_hash");
  const std::string store = own ? candidate.run.at("store").get<std::string>()
                                : ours.value("store", std::string("STORE"));
  const std::string folder = shell_word(promoted.path().string());
  fail(ErrorCode::usage,
       "{} was not evaluated on the images that the new one was (split {}, dataset {}), so nothing "
       "says whether it got worse. Evaluate it on them: headrace eval {} {} {} {} {} {}; or say "
       "why there is no comparison: {} \"…\"",
       promoted.path().string(), ours.value("split", ""),
       ours.value("dataset_hash", "").substr(0, 16), Option{"run"}, folder, Option{"store"},
       shell_word(store), Option{"split"}, shell_word(ours.value("split", "")),
       Option{"without_comparison"});
}

/// The figures that the new model has to reach: an evaluation beside eval.json is in no log, so
/// nothing else shows that somebody lowered them.
void check_bar(const NamedEvaluation& before, const RunFolder& promoted, bool seen_allowed) {
  check_figures(before);
  check_digest(before);
  if (seen_allowed) return;
  const Json run = promoted.read_json("run.json"), config = promoted.read_json("config.json");
  if (count_seen(before.json, run, config)) check_unseen(before, run, config);
}

/// What is compared, and by how much it may be worse.
class Asked {
 public:
  Asked(const PromotionCandidate& candidate, const RunFolder& promoted, const measure::Gate& gates,
        const std::map<std::string, double>& given)
      : given_(given) {
    for (const measure::GateFigure& figure : gates.check(candidate.evaluation.json).figures)
      ask(figure.figure, figure.group, figure.asked.worse_than_promoted);
    // A run that asks for less than the promoted one had to reach is held against all of that, too:
    // its figures, its groups, its margins.
    if (promoted.has(kGateFile)) {
      const Json passed = promoted.read_json(kGateFile);
      for (const Json& figure : passed.at("figures")) {
        const Json worse = figure.value("worse_than_promoted", Json());
        ask(figure.at("figure"), figure.at("group"),
            worse.is_number() ? std::optional(worse.get<double>()) : std::nullopt);
      }
    }
    std::vector<std::string> known;
    for (const auto& figure : measure::figures_of_group(candidate.evaluation.json.at("overall")))
      known.push_back(figure.name);
    for (const auto& [name, margin] : given) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        const auto nearest = nearest_name(name, known);
        fail(ErrorCode::usage, "{} {}: {} has no such figure{}", Option{"worse"}, name,
             candidate.evaluation.origin,
             nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
      }
      figures_.insert(name);
    }
  }

  const std::set<std::string>& figures() const noexcept { return figures_; }
  /// Kinds of groups to compare: of scanners and phases where a gate holds one.
  bool takes_kind(const std::string& kind) const {
    return kind == kOverall || kind == kCohorts ||
           std::any_of(groups_.begin(), groups_.end(),
                       [&](const std::string& group) { return group.starts_with(kind + "."); });
  }
  bool takes(const std::string& group) const {
    return group == kOverall || group.starts_with(std::string(kCohorts) + ".") ||
           groups_.contains(group);
  }
  /// The one of the command; else the strictest that a gate, of now or of the promoted model, states
  /// for this group; else that of all images; else the default.
  double margin(const std::string& group, const ComparedFigure& figure) const {
    if (const auto found = given_.find(figure.figure); found != given_.end()) return found->second;
    if (const auto found = of_groups_.find({figure.figure, group}); found != of_groups_.end())
      return found->second;
    if (const auto found = of_figures_.find(figure.figure); found != of_figures_.end())
      return found->second;
    return default_margin(figure.figure, figure.count);
  }

 private:
  static constexpr const char* kOverall = "overall";
  static constexpr const char* kCohorts = "cohorts";

  void ask(const std::string& figure, const std::string& group, std::optional<double> worse) {
    figures_.insert(figure);
    groups_.insert(group);
    if (!worse) return;
    put(of_groups_, {figure, group}, *worse);
    if (group == kOverall) put(of_figures_, figure, *worse);
  }

  template <typename Key>
  static void put(std::map<Key, double>& to, const Key& key, double margin) {
    const auto [place, fresh] = to.emplace(key, margin);
    if (!fresh) place->second = std::min(place->second, margin);
  }

  const std::map<std::string, double>& given_;
  std::set<std::string> figures_, groups_;
  std::map<std::pair<std::string, std::string>, double> of_groups_;  ///< by figure and group
  std::map<std::string, double> of_figures_;                         ///< stated for all images
};

WorseCheck check_of(const ComparedGroup& group, const ComparedFigure& figure, double margin) {
  WorseCheck out{group.group, figure, margin, group.paired_cases, {}};
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

/// Why the figures alone were compared.
std::string without_interval(const WorseCheck& check) {
  if (check.figure.count) return "no interval: a count";
  const bool few = check.cases > 0 && check.cases < measure::kLeastCasesOfIntervals;
  return (few ? measure::no_interval_text(check.cases) : "no interval") +
         "; compared by the figures alone";
}

std::string line_of(const WorseCheck& check) {
  const ComparedFigure& figure = check.figure;
  const std::string name =
      check.group == "overall" ? figure.figure : check.group + "." + figure.figure;
  const std::string end =
      figure.interval
          ? fmt::format(" (difference {:+.4f}, 95 % interval {:+.4f} to {:+.4f})",
                        *figure.difference, (*figure.interval)[0], (*figure.interval)[1])
      : figure.difference
          ? fmt::format(" (difference {:+.4f}; {})", *figure.difference, without_interval(check))
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
                {"cases", check.cases},
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
  const measure::Figure* row = measure::find_figure(figure);
  return row != nullptr ? row->margin : measure::Figure{}.margin;
}

PromotionComparison compare_with_promoted(const PromotionCandidate& candidate,
                                          const RunFolder& promoted, const Json& log_line,
                                          const measure::Gate& gates,
                                          const std::map<std::string, double>& margins,
                                          bool seen_allowed) {
  check_same_meaning(candidate, promoted);
  const NamedEvaluation before = evaluation_of_promoted(candidate, promoted, log_line);
  check_bar(before, promoted, seen_allowed);
  const Asked asked(candidate, promoted, gates, margins);
  const ComparedEvaluations compared =
      compare_evaluations(before, candidate.evaluation,
                          [&](const std::string& kind) { return asked.takes_kind(kind); });
  PromotionComparison out{log_line.at("model"), {}};
  for (const ComparedGroup& group : compared.groups) {
    if (!asked.takes(group.group)) continue;
    for (const ComparedFigure& figure : group.figures) {
      if (!asked.figures().contains(figure.figure)) continue;
      if (figure.not_of_images) {
        fail(ErrorCode::corrupt,
             "{} of {} is not what its images make, in {} or in {}: a file was changed. Evaluate "
             "again (headrace eval)",
             figure.figure, group.group, before.origin, candidate.evaluation.origin);
      }
      out.checks.push_back(check_of(group, figure, asked.margin(group.group, figure)));
    }
  }
  if (out.checks.empty()) {
    fail(ErrorCode::usage,
         "The gates hold only figures of cases, which are not compared, so nothing says whether "
         "the model got worse. Name a figure of all images ({} mean_dice=0.02), or say why there "
         "is no comparison: {} \"…\"",
         Option{"worse"}, Option{"without_comparison"});
  }
  return out;
}

}  // namespace headrace::runs
