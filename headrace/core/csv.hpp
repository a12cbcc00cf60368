#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// One record of a CSV file, and the line it begins on (1 is the first).
struct CsvRow {
  int line = 0;
  std::vector<std::string> fields;
};

/// Parses RFC 4180 text: quoted fields (with commas, line ends and doubled quotes), LF or CRLF, an
/// optional UTF-8 byte order mark; empty lines are left out. `origin` names the file in errors.
/// Errors: malformed, with the line.
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& origin);

}  // namespace headrace
