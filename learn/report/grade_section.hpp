#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// ISUP grade groups: kappa and confusion of slides and cases, then by cohort. Empty for other
/// tasks.
std::string grade_section(const RunData& data);

}  // namespace headrace::report
