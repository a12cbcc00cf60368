#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headrace/train/evaluate/baseline.hpp"
#include "headrace/train/run/run_folder.hpp"

namespace headrace::train {

/// Fits the run's baseline and writes it as baseline.json, so that it is the same for any store on
/// which the run is evaluated later. Errors: those of fit_baseline.
std::shared_ptr<const Baseline> keep_baseline(RunFolder& folder, const cohort::Cohort& cohort,
                                              const loader::RunConfig& config);

/// The baseline of the run folder, for these classes; null where the training has not ended.
std::shared_ptr<const Baseline> read_baseline(const RunFolder& folder,
                                              const std::vector<std::string>& classes);

}  // namespace headrace::train
