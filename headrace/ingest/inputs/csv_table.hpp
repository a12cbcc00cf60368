#pragma once
#include <map>
#include <string>
#include <vector>

namespace headrace::ingest {

/// One row of a table, by column; empty fields are left out.
struct TableRow {
  std::string where;  ///< "cases.csv, line 7"
  std::map<std::string, std::string> fields;

  std::string get(const std::string& column) const;
};

/// A CSV file with a header, without blanks around fields.
struct CsvTable {
  std::string header_where;
  std::vector<std::string> header;
  std::vector<TableRow> rows;
};

/// Errors: not_found, malformed (a row of another width, no rows; with the line).
CsvTable read_csv_table(const std::string& file);

/// Refuses columns that are not `known` (with the nearest) or occur twice, and a table without the
/// first known one. Errors: usage.
void check_columns(const CsvTable& table, const std::vector<std::string>& known);

/// Refuses a field that is not empty and none of `accepted`. Errors: usage, with the nearest.
void check_choice(const TableRow& row, const std::string& column,
                  const std::vector<std::string>& accepted);

}  // namespace headrace::ingest
