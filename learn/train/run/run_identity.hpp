#pragma once
#include <memory>
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/json.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/network.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::train {

/// run.json: all that a result depends on, and the path of the store.
/// {format, code_version, config_hash, dataset_hash, preprocessing_sha256, store, images, cohorts,
/// scanners, classes, runtime, decoder, parameters, seed, hardware (machine_facts), libraries; for
/// volumes phases}
Json describe_run(const config::RunConfig& config, const cohort::Cohort& cohort,
                  const loader::Preprocessing& preprocessing, const inference::Network& network,
                  const std::string& code_version);

/// Refuses to resume where the current training split would give another preprocessing: names each
/// value that differs. Errors: usage, and those of read_run_preprocessing.
void check_same_preprocessing(const runs::RunFolder& folder, const loader::Preprocessing& fitted);

/// Refuses to resume where dataset, release, LibTorch, threads, device or decoder differ:
/// names each with both values. Errors: usage.
/// With other data it also names the command that compares them.
void check_same_run(const Json& stored, const Json& current, const cohort::Cohort& cohort);

/// The config of a run that is resumed: it continues with the version of the store that it began
/// with, whatever versions came later, unless the config names a version.
config::RunConfig with_own_version(const config::RunConfig& config, const runs::RunFolder& folder);

/// Opens the version data.version of a cohort and checks that the run's config fits it:
/// data.expect_hash, labels and classes, and for task grading a class for a pattern. Errors: usage
/// and those of Cohort::open.
std::shared_ptr<const cohort::Cohort> open_cohort(const config::RunConfig& config);

/// Whether a label image of the set data.labels, or for task grading a grade of the table, gives a
/// truth to evaluate with.
bool judges(const cohort::ImageRecord& image, const config::RunConfig& config);
/// The same, or the table says that it holds no class.
bool has_truth(const cohort::ImageRecord& image, const config::RunConfig& config);

/// Refuses a split whose images have no truth to evaluate with: no labels `data.labels`, and for
/// task grading no grades. The tile plan refuses a split without images. Errors: usage.
void check_judged_split(const cohort::Cohort& cohort, const config::RunConfig& config,
                        const std::string& split);

/// Opens a cohort for the evaluation of a trained run, with the run's classes, matched by name. Its
/// class_match() has the classes that do not match.
/// Errors: usage (data.expect_hash, none of the run's classes), those of check_judged_split and
/// Cohort::open.
std::shared_ptr<const cohort::Cohort> open_judged_cohort(const config::RunConfig& config,
                                                         const loader::Preprocessing& preprocessing,
                                                         const std::string& split);

}  // namespace headrace::train
