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

/// Parses a table in UTF-8: quoted fields (with separators, line ends and doubled quotes) as in RFC
/// 4180; LF, CRLF or CR; an optional byte order mark; empty lines are left out. Fields are
/// separated by commas, or by ';' or tabs where the first record has more of these than of commas
/// outside quotes, or by what a first line "sep=;" states, as spreadsheets write them. `origin`
/// names the file in errors. Errors: malformed, with the line.
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& origin);
/// What separates the fields of such a table.
char csv_separator(std::string_view text);

}  // namespace headrace
