#pragma once
#include <string>

#include "headrace/core/json.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/source/cohort.hpp"
#include "headrace/train/network.hpp"
#include "headrace/train/run_folder.hpp"

namespace headrace::train {

/// run.json: everything a result depends on, and where the store lay.
/// {format, code_version, config_hash, dataset_hash, store, cohort_names, classes, runtime,
/// decoder, parameters}
Json describe_run(const loader::RunConfig& config, const source::Cohort& cohort,
                  const Network& network, const std::string& code_version);

/// Refuses to resume where dataset, code version, LibTorch, threads, device or decoder differ:
/// names each with both values. Errors: usage.
void check_same_run(const Json& stored, const Json& current);

/// The config of a run that is resumed: it goes on with the version of the store that it began
/// with, whatever versions have come since; a config that names one is taken at its word.
loader::RunConfig with_own_version(const loader::RunConfig& config, const RunFolder& folder);

/// Opens the version data.version of a cohort and checks that the run's config fits it:
/// data.expect_hash, labels and classes, and for task gleason a class for a pattern. Errors: usage
/// and those of Cohort::open.
std::shared_ptr<const source::Cohort> open_cohort(const loader::RunConfig& config);

}  // namespace headrace::train
