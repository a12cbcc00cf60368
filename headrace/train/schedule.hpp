#pragma once
#include <cstdint>

#include "headrace/loader/run_config.hpp"

namespace headrace::train {

/// The learning rate of step `step` (from 0) of `total_steps`: linear rise over `warmup_steps`,
/// then constant, or half a cosine from lr to 0.
double learning_rate(const loader::RunConfig::Train& config, std::int64_t step,
                     std::int64_t total_steps);

}  // namespace headrace::train
