#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace {

/// A line of a table (RFC 4180) with its line break: texts with a comma, a quote or a line break
/// are quoted, null is an empty cell, numbers are as in JSON.
std::string csv_line(const std::vector<Json>& cells);

}  // namespace headrace
