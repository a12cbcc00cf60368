#pragma once
#include <string>

#include "headrace/core/json.hpp"
#include "learn/measure/figure_table.hpp"
#include "learn/report/run_data.hpp"

namespace headrace::report {

/// States how many pixels or voxels have a label that stands for several classes, and that figures
/// of single classes leave them out; empty without any.
std::string sets_text(const RunData& data);

/// Confusion of classes as shares of each true class; a row of pixels or voxels.
std::string confusion(const RunData& data);

/// For slides: figures by class, confusion.
std::string class_section(const RunData& data);

/// A figure of a class of all images, as a column of the table of classes shows it.
std::string class_cell(const Json& overall, const measure::Figure& of, const std::string& name);

}  // namespace headrace::report
