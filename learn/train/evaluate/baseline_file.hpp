#pragma once
#include <memory>
#include <string>
#include <vector>

#include "learn/runs/run_folder.hpp"
#include "learn/train/evaluate/baseline.hpp"

namespace headrace::train {

/// Fits the run's baseline and writes it as baseline.json, so that it is the same for any store on
/// which the run is evaluated later. Errors: those of fit_baseline.
std::shared_ptr<const Baseline> keep_baseline(runs::RunFolder& folder, const cohort::Cohort& cohort,
                                              const config::RunConfig& config);

/// The baseline of the run folder, for these classes; null where the training has not ended.
std::shared_ptr<const Baseline> read_baseline(const runs::RunFolder& folder,
                                              const std::vector<std::string>& classes);

}  // namespace headrace::train
