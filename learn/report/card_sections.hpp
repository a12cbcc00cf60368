#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// What the run was trained and judged on: dataset, splits, groups, supervised pixels.
std::string data_card(const RunData& data);

/// What the network is, what it takes, what it is for, and the limits that its figures show.
std::string model_card(const RunData& data);

/// Hashes, versions, hardware, the commands that repeat and show the run, and its config.
std::string reproduction(const RunData& data);

}  // namespace headrace::report
