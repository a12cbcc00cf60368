#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace {

/// A value as a cell of a table (RFC 4180): texts with a comma, a quote or a line break are quoted,
/// null is an empty cell, numbers are as in JSON. Texts that a spreadsheet would take for a formula
/// begin with ' in it, which plain_cell takes away.
std::string csv_cell(const Json& value);

/// What a cell says: without the ' in front of a text that would be a formula.
std::string plain_cell(std::string text);

/// A line of a table with its line break.
std::string csv_line(const std::vector<Json>& cells);

}  // namespace headrace
