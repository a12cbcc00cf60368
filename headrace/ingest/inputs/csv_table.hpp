#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/option_choice.hpp"

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

/// The value of a field; nothing where it is empty. Errors: usage, as check_choice.
template <NamedEnum Enum>
std::optional<Enum> choice_in(const TableRow& row, const std::string& column) {
  const std::string word = row.get(column);
  if (word.empty()) return std::nullopt;
  return stated_choice<Enum>(ErrorCode::usage, row.where, column, word);
}

}  // namespace headrace::ingest
