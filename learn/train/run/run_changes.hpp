#pragma once
#include <string>
#include <vector>

#include "headrace/core/json_changes.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::train {

/// Whether a key of the config decides how a run is evaluated, and never its weights: data.val and
/// those of `eval`.
bool only_judges(const std::string& key);

/// Whether such a key decides the figures of validations, and so what they are compared by: all but
/// eval.bootstrap, which adds intervals to the final evaluation.
bool decides_figures(const std::string& key);

/// Checks the keys of a config that may differ when a run is resumed: those that decide nothing
/// (RunConfig::decides_nothing), and data.val and `eval`, which decide how the run is evaluated,
/// never its weights, so a mistake there can be corrected (but where train.patience ends the training
/// by figures, none that decides_figures, nor data.val beside data.folds). All other keys decide the
/// training. Returns the changes that decide how the run is evaluated.
/// Errors: usage, where training would change: names every such key with both values.
std::vector<JsonChange> check_resumed_config(const Json& stored, const Json& given);

/// SHA-256 of the part of a config that decides_figures.
std::string judging_hash(const config::RunConfig& config);

/// Whether the figures of a checkpoint that has this hash are those of this config: also by what
/// builds of before wrote, over the bootstrap, too, of any config in the lines of starts.jsonl.
bool judged_alike(const std::string& judged_by, const config::RunConfig& config,
                  const std::vector<Json>& starts);

}  // namespace headrace::train
