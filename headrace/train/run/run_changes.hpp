#pragma once
#include <string>
#include <vector>

#include "headrace/core/json_changes.hpp"
#include "headrace/loader/config/run_config.hpp"

namespace headrace::train {

/// Whether a key of the config decides how a run is evaluated, and never its weights: data.val and
/// those of `eval`.
bool only_judges(const std::string& key);

/// Checks the keys of a config that may differ when a run is resumed: those that decide nothing
/// (RunConfig::decides_nothing), and data.val and `eval`, which decide how the run is evaluated,
/// never its weights, so a mistake there can be corrected (but not where train.patience ends the
/// training by them, nor data.val beside data.folds). All other keys decide the training.
/// Returns the changes that decide how the run is evaluated.
/// Errors: usage, where training would change: names every such key with both values.
std::vector<JsonChange> check_resumed_config(const Json& stored, const Json& given);

/// SHA-256 of the part of a config that may change in this way.
std::string judging_hash(const loader::RunConfig& config);

}  // namespace headrace::train
