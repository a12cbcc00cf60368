#pragma once
#include "headrace/loader/run_config.hpp"
#include "headrace/loader/share.hpp"
#include "headrace/ranks/team.hpp"
#include "headrace/train/network.hpp"

namespace headrace::train {

/// What this process's loader of training batches is told: where batches are made, and by how many
/// of the machine's `cores` (share_of_cores).
loader::RunConfig fed_config(const loader::RunConfig& config, const Network& network, int cores);
/// Which samples of every batch are this process's.
loader::Share own_share(const loader::RunConfig& config, const ranks::Team& team);

}  // namespace headrace::train
