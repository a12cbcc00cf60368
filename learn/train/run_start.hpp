#pragma once
#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"
#include "learn/ranks/process_group.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/trainer.hpp"

namespace headrace::train {

/// Checks that all processes would give the same results (describe_run), each by its own
/// `identity`. A collective. Errors: usage, naming the process that differs.
void check_same_everywhere(const Json& identity, ranks::ProcessGroup& process_group);

/// The first process makes the run folder, or with options.resume checks that it has this config
/// and identity, and locks it; the others open it afterwards. A collective.
/// Errors: usage (the folder is taken, another config or identity), not_found (nothing to resume).
runs::RunFolder start_run(const config::RunConfig& config, const cohort::Cohort& cohort,
                          const loader::Preprocessing& preprocessing, const TrainOptions& options,
                          const Json& identity, ranks::ProcessGroup& process_group);

}  // namespace headrace::train
