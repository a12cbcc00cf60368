#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/inference/network.hpp"
#include "learn/train/trainer.hpp"

namespace headrace::train {

/// Gives the network the weights that options.init names: a run folder (its final weights) or a
/// safetensors file. Logs which were taken and which not.
///
/// A resumed run that began in this way needs no options.init: its checkpoint has everything. Where
/// there is no checkpoint yet, the weights are read again from the path in run.json.
///
/// out     for run.json: {file, sha256, trained_cases (runs/trained_cases.hpp), and the result of
///         Network::start_from}; null: the seed's own weights
/// errors  not_found, malformed; usage (nothing fits the network; on resume other weights than
///         those that the run began with)
Json begin_with_weights(const TrainOptions& options, const std::vector<std::string>& classes,
                        inference::Network& network);

}  // namespace headrace::train
