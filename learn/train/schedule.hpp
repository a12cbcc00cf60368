#pragma once
#include <cstdint>

#include "learn/config/run_config.hpp"

namespace headrace::train {

/// The learning rate of step `step` (from 0) of `total_steps`: linear rise over `warmup_steps`,
/// then constant, half a cosine from lr to 0, or poly: lr · (1 - part done)^0.9.
///
/// source  poly: Chen et al., DeepLab, TPAMI 40, 2018, section 4.1; the exponent and its use as
///         nnU-Net's
double learning_rate(const config::RunConfig::Train& config, std::int64_t step,
                     std::int64_t total_steps);

}  // namespace headrace::train
