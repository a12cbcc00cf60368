#pragma once
#include "headrace/loader/plan/share.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/network.hpp"
#include "learn/ranks/process_group.hpp"

namespace headrace::train {

/// The config of this process's loader of training batches: where batches are made, and by how many
/// of the machine's `cores` (share_of_cores).
loader::LoaderConfig fed_config(const config::RunConfig& config, const inference::Network& network,
                                int cores);
/// This process's samples of every batch.
loader::Share own_share(const config::RunConfig& config, const ranks::ProcessGroup& process_group);

}  // namespace headrace::train
