#include "learn/train/run/run_changes.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/core/task_name.hpp"

namespace headrace::train {
namespace {

constexpr const char* kIntervals = "bootstrap";  ///< of `eval`: changes no figure's value

}  // namespace

bool only_judges(const std::string& key) { return key == "data.val" || key.starts_with("eval."); }

bool decides_figures(const std::string& key) {
  return only_judges(key) && key != "eval." + std::string(kIntervals);
}

namespace {

/// Whether a key that only judges as a rule decides this training: what ends by its validations, or
/// trains on all that data.val does not take.
bool decides_training(const std::string& key, const Json& config) {
  if (key == "data.val" && config.at("data").contains("folds")) return true;
  return decides_figures(key) && config.at("train").contains("patience");
}

std::string hash_of_judging(const Json& config, bool with_intervals) {
  Json eval = config.at("eval");
  if (!with_intervals) eval.erase(kIntervals);
  return sha256_hex(dump_json({{"val", config.at("data").at("val")}, {"eval", std::move(eval)}}));
}

}  // namespace

std::vector<JsonChange> check_resumed_config(const Json& stored, const Json& given) {
  std::vector<JsonChange> judging;
  std::vector<std::string> refused;
  for (const JsonChange& change : changes_between(with_current_task(stored), given)) {
    if (config::RunConfig::decides_nothing(change.key)) continue;
    if (only_judges(change.key) && !decides_training(change.key, given)) {
      judging.push_back(change);
    } else {
      refused.push_back(change.text("the config"));
    }
  }
  if (refused.empty()) return judging;
  fail(ErrorCode::usage,
       "The config differs from that of the run to resume: {}. Put it back, or start a new run in "
       "another folder.",
       fmt::join(refused, "; "));
}

std::string judging_hash(const config::RunConfig& config) {
  return hash_of_judging(config.to_json(), false);
}

bool judged_alike(const std::string& judged_by, const config::RunConfig& config,
                  const std::vector<Json>& starts) {
  const std::string now = judging_hash(config);
  if (judged_by == now) return true;
  return std::any_of(starts.begin(), starts.end(), [&](const Json& start) {
    const Json& then = start.at("config");
    return hash_of_judging(then, true) == judged_by && hash_of_judging(then, false) == now;
  });
}

}  // namespace headrace::train
