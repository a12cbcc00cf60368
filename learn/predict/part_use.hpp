#pragma once
#include "learn/inference/part_sender.hpp"
#include "learn/predict/trained_run.hpp"

namespace headrace::predict {

/// What findings need of parts that are blended where the run's network is: of their probabilities
/// no more than bytes, made there (TensorScores, tensor_voxels).
inference::PartUse part_use(const TrainedRun& run);

}  // namespace headrace::predict
