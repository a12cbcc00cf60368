#pragma once
#include <string>

#include "headrace/report/run_data.hpp"

namespace headrace::report {

/// States how many pixels or voxels have a label that stands for several classes, and that figures
/// of single classes leave them out; empty without any.
std::string sets_text(const RunData& data);

std::string class_section(const RunData& data);      ///< Dice by class, confusion
std::string group_section(const RunData& data);      ///< by cohort and scanner, other evaluations
std::string other_evaluations(const RunData& data);  ///< on other stores, splits or weights
std::string grade_section(const RunData& data);      ///< kappa, grade matrix; empty for other tasks
std::string image_section(const RunData& data);      ///< one row for each image
std::string montage_section(const RunData& data);    ///< pictures

}  // namespace headrace::report
