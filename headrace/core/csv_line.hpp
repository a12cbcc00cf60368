#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace {

/// A value as a cell of a table (RFC 4180): texts with a comma, a quote or a line break are quoted,
/// null is an empty cell, numbers are as in JSON.
std::string csv_cell(const Json& value);

/// A line of a table with its line break.
std::string csv_line(const std::vector<Json>& cells);

}  // namespace headrace
