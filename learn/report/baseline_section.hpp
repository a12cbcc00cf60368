#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// The network's figures beside those of a prediction that does not look at pixels; empty for an
/// evaluation without one.
std::string baseline_section(const RunData& data);

}  // namespace headrace::report
