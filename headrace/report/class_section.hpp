#pragma once
#include <string>

#include "headrace/report/run_data.hpp"

namespace headrace::report {

/// States how many pixels or voxels have a label that stands for several classes, and that figures
/// of single classes leave them out; empty without any.
std::string sets_text(const RunData& data);

/// Confusion of classes as shares of each true class; a row of pixels or voxels.
std::string confusion(const RunData& data);

/// For slides: Dice and IoU by class, confusion.
std::string class_section(const RunData& data);

}  // namespace headrace::report
