#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// Reliability diagram, ECE and Brier score of the predicted class, and of lesions where they were
/// searched for, from `overall.calibration` and `overall.lesion.voxel`; empty without them.
std::string calibration_section(const RunData& data);

}  // namespace headrace::report
