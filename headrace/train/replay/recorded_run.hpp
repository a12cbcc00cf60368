#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/runs/run_folder.hpp"
#include "headrace/train/run/step_record.hpp"

namespace headrace::train {

/// What a run folder says about a training, read once.
struct RecordedRun {
  runs::RunFolder folder;
  Json run;                   ///< run.json
  Json config;                ///< config.json, which anyone may have changed since
  std::vector<Json> starts;   ///< starts.jsonl; empty: a run made before there was one
  std::vector<Json> metrics;  ///< metrics.jsonl
  std::map<std::int64_t, StepRecord> steps;  ///< steps.jsonl, by step; the same

  /// Reads the first `steps` lines of steps.jsonl. Errors: not_found, malformed.
  static RecordedRun read(const std::string& path, std::size_t steps);

  /// The config that it was started with: of starts.jsonl, else config.json.
  const Json& started_with() const;
  /// That of its last resume, which may have changed how it is judged.
  const Json& judged_with() const;
  /// What it was computed by, from its beginning on: the lines of starts.jsonl, and before them
  /// run.json where an earlier release began it.
  std::vector<Json> computed_by() const;
  /// Whether it came to its end.
  bool finished() const { return folder.has(runs::kFinalWeights); }
  /// The last step of steps.jsonl and metrics.jsonl; 0: none.
  std::int64_t last_step() const;
};

}  // namespace headrace::train
