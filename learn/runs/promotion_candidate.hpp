#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/gate.hpp"
#include "learn/runs/evaluation_comparison.hpp"
#include "learn/runs/model_registry.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::runs {

inline constexpr const char* kEvaluation = "eval.json";

/// A run that may be promoted.
struct PromotionCandidate {
  /// As they will be in the registry: the weights as final.safetensors, the evaluation as
  /// eval.json, config.json, preprocessing.json, run.json, and what else the run has for those who
  /// use or question it. Without gate.json.
  ModelFiles files;
  Json config, run;
  NamedEvaluation evaluation;
  std::string weights_sha256;  ///< weights_identity
  /// What the run's config asks for; of a promoted model all that it passed.
  measure::Gate gates;
};

/// What of a config says what figures mean, as eval.json keeps it (`rules`): {task, data{labels,
/// outside}, eval}.
Json rules_of(const Json& config);
/// How rules differ, a phrase each; without keys that only change how tiles are made.
std::vector<std::string> rule_changes(const Json& before, const Json& after);

/// in      weights     "final" or "best"
///         evaluation  a file; empty: that of the run which is of exactly these weights, on the
///                     run's own validation split if there are several
/// errors  not_found (no weights, no evaluation of them; says how to make it), usage (the evaluation
///         is of other weights, by other rules than the config's, or of what they were trained on),
///         corrupt (its figures are not those of its images), malformed
PromotionCandidate read_candidate(const RunFolder& folder, const std::string& weights,
                                  const std::string& evaluation);

/// An evaluation in the run folder of weights of one of these hashes (weights_hashes), of the data
/// that `like` was made with; none where there is none.
std::optional<NamedEvaluation> find_evaluation(const RunFolder& folder,
                                               const std::set<std::string>& weights_hashes,
                                               const Json& like);

}  // namespace headrace::runs
