#include "headrace/train/run/run_changes.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::train {

bool only_judges(const std::string& key) { return key == "data.val" || key.starts_with("eval."); }

namespace {

/// Whether a key that only judges as a rule decides this training: what ends by its validations, or
/// trains on all that data.val does not take.
bool decides_training(const std::string& key, const Json& config) {
  if (key == "data.val" && config.at("data").contains("folds")) return true;
  return config.at("train").contains("patience");
}

}  // namespace

std::vector<JsonChange> check_resumed_config(const Json& stored, const Json& given) {
  std::vector<JsonChange> judging;
  std::vector<std::string> refused;
  for (const JsonChange& change : changes_between(stored, given)) {
    if (loader::RunConfig::decides_nothing(change.key)) continue;
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

std::string judging_hash(const loader::RunConfig& config) {
  const Json json = config.to_json();
  return sha256_hex(dump_json({{"val", json.at("data").at("val")}, {"eval", json.at("eval")}}));
}

}  // namespace headrace::train
