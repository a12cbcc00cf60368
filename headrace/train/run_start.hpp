#pragma once
#include "headrace/loader/preprocessing.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/ranks/team.hpp"
#include "headrace/train/run_folder.hpp"
#include "headrace/train/trainer.hpp"

namespace headrace::train {

/// Checks that all processes would give the same results (describe_run), each by its own
/// `identity`. A meeting. Errors: usage, naming the process that differs.
void check_same_everywhere(const Json& identity, ranks::Team& team);

/// The first process makes the run folder, or with options.resume checks that it has this config
/// and identity, and locks it; the others open it afterwards. A meeting.
/// Errors: usage (the folder is taken, another config or identity), not_found (nothing to resume).
RunFolder start_run(const loader::RunConfig& config, const loader::Preprocessing& preprocessing,
                    const TrainOptions& options, const Json& identity, ranks::Team& team);

}  // namespace headrace::train
