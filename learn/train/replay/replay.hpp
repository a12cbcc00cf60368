#pragma once
#include <cstdint>
#include <string>

#include "headrace/core/json.hpp"
#include "learn/train/replay/replay_result.hpp"
#include "learn/train/replay/step_comparison.hpp"

namespace headrace::train {

struct ReplayRequest {
  std::string run;          ///< run folder; nothing is written into it
  std::int64_t steps = 10;  ///< to compare
  bool full = false;        ///< all steps, and what comes after them
  std::string config{};     ///< file to train by; empty: config.json of the run
  std::string store{};      ///< where the store lies now; empty: where run.json says
  int threads = 0;          ///< LibTorch's; 0: those of the run
  std::string init{};       ///< where the weights that it began with lie now; empty: as recorded
  /// A folder that is not there. With `full` it becomes that of the run that is made, and the caller
  /// removes it; else nothing is made.
  std::string scratch{};
  std::string code_version{};
  Json code{};                     ///< what the program was built with
  StepComparison::SayKnown say{};  ///< told what is known to differ, before the first step
};

/// Trains again from what a run folder says, in one process, and compares step by step with what it
/// recorded; ends at the first difference.
///
/// A run of several processes is replayed by gradient parts, a resumed one as an unbroken one: both
/// give the same bytes. One without steps.jsonl is compared with the means of metrics.jsonl.
///
/// errors  not_found (the run, its store, the weights that it began with; no step is recorded),
///         usage, and those of train; an object that fails its check is a difference
ReplayResult replay(const ReplayRequest& request);

}  // namespace headrace::train
