#pragma once
#include "learn/runs/run_folder.hpp"
#include "learn/train/replay/recorded_run.hpp"
#include "learn/train/replay/replay_result.hpp"

namespace headrace::train {

/// Compares what two finished trainings left: final and best weights by their bytes, eval.json and
/// the validations of metrics.jsonl but for times. Sets the first difference, or the files that
/// agree; the best weights and validations of a run that was judged otherwise on its way are left
/// out, with a note.
void compare_results(const RecordedRun& recorded, const runs::RunFolder& replayed,
                     ReplayResult& result);

}  // namespace headrace::train
