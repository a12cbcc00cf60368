#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::report {

/// A confusion matrix (rows: truth), shaded by the share of each row; `names` are HTML. Shows
/// shares, or, without `percent`, counts; the count is the tooltip of each.
std::string matrix_html(const Json& matrix, const std::vector<std::string>& names, bool percent);

}  // namespace headrace::report
