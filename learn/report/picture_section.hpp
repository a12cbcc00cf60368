#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// The images with the lowest and the highest figures: the original, then annotation and prediction
/// outlined over it. Empty where the evaluation kept none.
std::string example_section(const RunData& data);

/// Patches as the model got them, with annotation and prediction.
std::string montage_section(const RunData& data);

}  // namespace headrace::report
