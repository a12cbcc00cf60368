#pragma once
#include <string>
#include <vector>

#include "headrace/report/run_data.hpp"

namespace headrace::report {

/// "0.873", or a dash for null.
std::string figure(const Json& value, int digits = 3);
/// A figure of a group of eval.json and, where there is one, its interval. path: its keys.
std::string with_interval(const Json& group, const std::vector<std::string>& path, int digits = 3);
/// Says what the small figures are; empty where the group has no intervals.
std::string interval_text(const Json& group);
/// How many pixels or voxels have a label that stands for several classes, and that they take no
/// part in figures of single ones; empty without any.
std::string sets_text(const RunData& data);
/// A coloured square and the name.
std::string class_label(const std::string& name, std::size_t index);

std::string class_section(const RunData& data);      ///< Dice by class, confusion
std::string group_section(const RunData& data);      ///< by cohort and scanner, other evaluations
std::string other_evaluations(const RunData& data);  ///< on other stores, splits or weights
std::string grade_section(const RunData& data);      ///< kappa, grade matrix; empty for other tasks
std::string image_section(const RunData& data);      ///< one row an image
std::string montage_section(const RunData& data);    ///< pictures

}  // namespace headrace::report
