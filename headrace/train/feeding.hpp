#pragma once
#include "headrace/config/run_config.hpp"
#include "headrace/inference/network.hpp"
#include "headrace/loader/plan/share.hpp"
#include "headrace/ranks/process_group.hpp"

namespace headrace::train {

/// The config of this process's loader of training batches: where batches are made, and by how many
/// of the machine's `cores` (share_of_cores).
loader::LoaderConfig fed_config(const config::RunConfig& config, const inference::Network& network,
                                int cores);
/// This process's samples of every batch.
loader::Share own_share(const config::RunConfig& config, const ranks::ProcessGroup& process_group);

}  // namespace headrace::train
