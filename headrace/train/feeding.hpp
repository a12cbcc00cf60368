#pragma once
#include "headrace/inference/network.hpp"
#include "headrace/loader/config/run_config.hpp"
#include "headrace/loader/plan/share.hpp"
#include "headrace/ranks/process_group.hpp"

namespace headrace::train {

/// The config of this process's loader of training batches: where batches are made, and by how many
/// of the machine's `cores` (share_of_cores).
loader::RunConfig fed_config(const loader::RunConfig& config, const inference::Network& network,
                             int cores);
/// This process's samples of every batch.
loader::Share own_share(const loader::RunConfig& config, const ranks::ProcessGroup& process_group);

}  // namespace headrace::train
