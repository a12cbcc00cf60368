#pragma once
#include <string>
#include <vector>

#include "learn/predict/predict.hpp"

namespace headrace::predict {

/// The runs of a request; the first has the evaluation that holds for all of them together. Errors:
/// those of open_trained_run and check_ensemble.
std::vector<TrainedRun> open_runs(const PredictRequest& request);

/// The request with what it leaves to the runs.
PredictRequest settled(PredictRequest request, const std::vector<TrainedRun>& runs);

/// What decides the result of an image besides the image (predict.json).
Json identity_of(const PredictRequest& request, const std::vector<TrainedRun>& runs);

/// Refuses files for a run whose channels can't be told from files: one named channel of several,
/// or a first one that is not CT. `file` is for the error. Errors: usage.
void check_takes_files(const TrainedRun& run, const std::string& file);

}  // namespace headrace::predict
