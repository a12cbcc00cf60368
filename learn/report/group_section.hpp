#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// Figures with intervals, and counts of cases and images, by cohort, scanner and phase, the worst
/// group of each first and marked; then evaluations on other stores, splits or weights.
std::string group_section(const RunData& data);

}  // namespace headrace::report
