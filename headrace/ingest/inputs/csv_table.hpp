#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/core/option_choice.hpp"

namespace headrace::ingest {

/// One row of a table, by column; empty fields are left out.
struct TableRow {
  std::string where;  ///< "cases.csv, line 7"
  std::map<std::string, std::string> fields;

  bool of_commas = false;  ///< the table is separated by commas

  std::string get(const std::string& column) const;
  /// The same of a column that may hold numbers. Errors: malformed (a text such as "1,234" in a
  /// table of commas: a thousand of one language, or decimals of another).
  std::string get_number(const std::string& column) const;
};

/// A CSV file with a header, without blanks around fields (is_blank of core).
struct CsvTable {
  std::string header_where;
  std::vector<std::string> header;
  std::vector<TableRow> rows;
};

/// A table as spreadsheets and pandas write it: separated by ',', ';' or tabs, in UTF-8 or UTF-16.
/// Left out are rows without any text, columns without name and text, and pandas' index (a first
/// column of whole numbers without a name, or named "Unnamed: 0"). Fields that are one of the words
/// that pandas reads as missing (nan, NA, None, NULL, …) are empty; their number is logged. Errors:
/// not_found, malformed (a row of another width, no rows, text that is not UTF-8; with the line).
CsvTable read_csv_table(const std::string& file);

/// Refuses columns that are neither `known` (with the nearest) nor `free` or occur twice, a table
/// without the first known one, and free columns that are known, not there, or named like what
/// could identify a patient. Errors: usage.
void check_columns(const CsvTable& table, const std::vector<std::string>& known,
                   const std::vector<std::string>& free);

/// The fields of a row in columns that only the user has a use for: numbers as numbers, but for
/// those with a leading 0, others as text. for_volumes: texts are held to the rule of names.
/// Errors: usage (a text that looks like a date, a UID, a person's name, or is longer than 64).
Json free_fields(const TableRow& row, const std::vector<std::string>& columns, bool for_volumes);

/// Refuses a field that is not empty and none of `accepted`. Errors: usage, with the nearest.
void check_choice(const TableRow& row, const std::string& column,
                  const std::vector<std::string>& accepted);

/// A whole number, also as "2.0" or "2,0": pandas writes integers so where others of the column are
/// missing. Nothing where the text is no whole number.
std::optional<std::int64_t> whole_number(const std::string& text);

/// A number, with a point or, as spreadsheets of many languages write it, one comma before its
/// decimals. Texts of a table come from TableRow::get_number, which refuses what may be thousands.
std::optional<double> decimal_number(const std::string& text);

/// 0 or 1, also as "1.0", and as false and true in any case. Nothing for other texts.
std::optional<int> truth_value(const std::string& text);

/// The value of a field; nothing where it is empty. Errors: usage, as check_choice.
template <NamedEnum Enum>
std::optional<Enum> choice_in(const TableRow& row, const std::string& column) {
  const std::string word = row.get(column);
  if (word.empty()) return std::nullopt;
  return stated_choice<Enum>(ErrorCode::usage, row.where, column, word);
}

}  // namespace headrace::ingest
