#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/loader/run_config.hpp"

namespace headrace::train {

/// One value that differs between two JSON objects.
struct Change {
  std::string key;  ///< "train.lr"
  Json before, after;

  /// "train.lr: the run has 0.003, the config 0.0001"; `now` names the second.
  std::string text(const std::string& now) const;
};

/// Values that differ, objects gone through key by key; absent is null.
std::vector<Change> changes_between(const Json& before, const Json& after);

/// What of a config may differ when a run is resumed: keys that decide nothing
/// (RunConfig::decides_nothing). data.val and `eval` decide how the run is judged, never its
/// weights: a mistake there can be mended. Anything else decides the training.
/// Gives the changes that decide how it is judged.
/// Errors: usage, where training would change: names every such key with both values.
std::vector<Change> check_resumed_config(const Json& stored, const Json& given);

/// SHA-256 of the part of a config that may change so.
std::string judging_hash(const loader::RunConfig& config);

}  // namespace headrace::train
