#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/network.hpp"
#include "learn/train/rehearsal.hpp"

namespace headrace::train {

/// What a run is about to do, one line each, as known before any trial: where it runs and why, the
/// contents of each split (images, those with labels, supervised pixels by class), steps; then
/// warnings.
struct StartBanner {
  std::vector<std::string> lines, warnings;
};
StartBanner start_banner(const config::RunConfig& config, const cohort::Cohort& cohort,
                         const inference::Network& network);

/// Memory and time, from the trial. `steps`: those still to do.
std::vector<std::string> cost_lines(const config::RunConfig& config, const Rehearsed& rehearsed,
                                    std::int64_t steps);

/// For each channel, how many images of a split lack it, where any does.
std::vector<std::string> lacking_channels(const std::vector<std::string>& names,
                                          const cohort::Cohort& cohort, const std::string& split);

/// "48 s", "12 min", "3.4 h": no more digits than an estimate has.
std::string rough_time(double seconds);

}  // namespace headrace::train
