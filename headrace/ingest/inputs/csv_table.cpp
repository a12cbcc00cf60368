#include "headrace/ingest/inputs/csv_table.hpp"

#include <algorithm>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/option_choice.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/core/csv.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::ingest {
namespace {

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

std::string TableRow::get(const std::string& column) const {
  const auto found = fields.find(column);
  return found == fields.end() ? "" : found->second;
}

CsvTable read_csv_table(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path(file);
  if (!fs::is_regular_file(path)) fail(ErrorCode::not_found, "{}: there is no such table", file);
  const storage::LocalStore folder(path.has_parent_path() ? path.parent_path() : fs::path("."), 1);
  const std::string name = path.filename().string();
  const auto rows = parse_csv(folder.get_text(name), file);
  if (rows.empty()) fail(ErrorCode::malformed, "{}: the table is empty", file);
  CsvTable table;
  table.header_where = fmt::format("{}, line {}", file, rows[0].line);
  for (const auto& column : rows[0].fields) table.header.push_back(trim(column));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    TableRow row{fmt::format("{}, line {}", file, rows[i].line), {}};
    if (rows[i].fields.size() != table.header.size()) {
      fail(ErrorCode::malformed, "{}: {} fields, the header has {}", row.where,
           rows[i].fields.size(), table.header.size());
    }
    for (std::size_t c = 0; c < table.header.size(); ++c) {
      if (const std::string text = trim(rows[i].fields[c]); !text.empty())
        row.fields[table.header[c]] = text;
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty())
    fail(ErrorCode::malformed, "{}: the table has a header but no rows", file);
  return table;
}

void check_columns(const CsvTable& table, const std::vector<std::string>& known) {
  const auto& header = table.header;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (std::find(known.begin(), known.end(), header[i]) == known.end()) {
      const auto nearest = nearest_name(header[i], known);
      fail(ErrorCode::usage, "{}: column '{}' is not known{}; known columns are {}",
           table.header_where, header[i],
           nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "", fmt::join(known, ", "));
    }
    if (std::find(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(i), header[i]) !=
        header.begin() + static_cast<std::ptrdiff_t>(i)) {
      fail(ErrorCode::usage, "{}: column '{}' stands there twice", table.header_where, header[i]);
    }
  }
  if (std::find(header.begin(), header.end(), known[0]) == header.end()) {
    fail(ErrorCode::usage, "{}: there is no column '{}'", table.header_where, known[0]);
  }
}

void check_choice(const TableRow& row, const std::string& column,
                  const std::vector<std::string>& accepted) {
  const std::string text = row.get(column);
  if (text.empty() || std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return;
  fail(ErrorCode::usage, "{}: {} '{}' {}", row.where, column, text, none_of(text, accepted));
}

}  // namespace headrace::ingest
