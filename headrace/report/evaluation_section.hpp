#pragma once
#include <string>
#include <vector>

#include "headrace/report/run_data.hpp"

namespace headrace::report {

/// "0.873", or a dash for null.
std::string figure(const Json& value, int digits = 3);
/// A coloured square and the name.
std::string class_label(const std::string& name, std::size_t index);

std::string class_section(const RunData& data);      ///< Dice by class, confusion
std::string group_section(const RunData& data);      ///< by cohort and scanner, other evaluations
std::string other_evaluations(const RunData& data);  ///< on other stores, splits or weights
std::string grade_section(const RunData& data);      ///< kappa, grade matrix; empty for other tasks
std::string image_section(const RunData& data);      ///< one row an image
std::string montage_section(const RunData& data);    ///< pictures

}  // namespace headrace::report
