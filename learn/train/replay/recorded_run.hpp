#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/run/step_record.hpp"

namespace headrace::train {

/// A line of metrics.jsonl: the loss is the mean since the line before.
struct MeanRecord {
  double loss = 0, gradient_norm = 0;  ///< NaN where not finite
};

/// What a run folder says about a training, read once: it may be training now.
struct RecordedRun {
  runs::RunFolder folder;
  Json run;                  ///< run.json
  Json config;               ///< config.json, which anyone may have changed since
  std::vector<Json> starts;  ///< starts.jsonl; empty: a run made before there was one
  std::map<std::int64_t, MeanRecord> means;  ///< of metrics.jsonl, by step
  std::vector<Json> validations;             ///< lines of metrics.jsonl
  std::map<std::int64_t, StepRecord> steps;  ///< steps.jsonl, by step
  bool finished = false;                     ///< it had come to its end when this was read

  /// Reads steps.jsonl and metrics.jsonl up to this step, or where there is none up to there, to
  /// the first mean: files of long runs have millions of lines. Errors: not_found, malformed.
  static RecordedRun read(const std::string& path, std::int64_t steps);

  /// The config that it was started with: of starts.jsonl, else config.json.
  const Json& started_with() const;
  /// That of its last resume, which may have changed how it is judged.
  const Json& judged_with() const;
  /// What it was computed by, from its beginning on: the lines of starts.jsonl, and before them
  /// run.json where an earlier release began it.
  std::vector<Json> computed_by() const;
  /// The last step of `steps` and `means`; 0: none.
  std::int64_t last_step() const;
};

}  // namespace headrace::train
