#include "headrace/ingest/inputs/csv_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "headrace/core/csv.hpp"
#include "headrace/core/csv_line.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_choice.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/unicode_text.hpp"
#include "headrace/core/url_hint.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/ingest/names/identifying_text.hpp"
#include "headrace/ingest/names/store_names.hpp"

namespace headrace::ingest {
namespace {

/// What pandas reads as missing by default, and writes.
bool is_missing(const std::string& text) {
  static const std::set<std::string, std::less<>> kWords{
      "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN", "-nan",
      "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL", "NaN",
      "None",   "n/a",      "nan",  "null",    "NaT"};
  return kWords.contains(text);
}

/// "Unnamed: 0", as pandas names a column without a name when it writes it again.
bool without_name(const std::string& name) { return name.empty() || name.starts_with("Unnamed: "); }

/// Rows and columns of a table's records.
class TableMaker {
 public:
  TableMaker(const std::string& file, bool of_commas) : file_(file), of_commas_(of_commas) {}

  CsvTable make(const std::vector<CsvRow>& records) {
    CsvTable table;
    table.header_where = where(records[0]);
    std::vector<std::string> names;
    for (const auto& column : records[0].fields) names.push_back(without_outer_blanks(column));
    while (!names.empty() && names.back().empty()) names.pop_back();
    const std::vector<bool> taken = taken_columns(names, records);
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (taken[c]) table.header.push_back(names[c]);
    }
    for (std::size_t i = 1; i < records.size(); ++i) {
      if (is_blank(records[i])) continue;
      table.rows.push_back(row_of(records[i], names, taken));
    }
    if (table.rows.empty())
      fail(ErrorCode::malformed, "{}: the table has a header but no rows", file_);
    if (missing_ > 0) {
      log::info("{}: {} fields such as '{}' are taken as empty, as pandas reads them", file_,
                missing_, first_missing_);
    }
    return table;
  }

 private:
  std::string where(const CsvRow& record) const {
    return fmt::format("{}, line {}", file_, record.line);
  }

  static bool is_blank(const CsvRow& record) {
    return std::all_of(record.fields.begin(), record.fields.end(), [](const std::string& field) {
      return without_outer_blanks(field).empty();
    });
  }

  /// Columns without a name hold nothing, or are pandas' index. Errors: malformed (others).
  std::vector<bool> taken_columns(const std::vector<std::string>& names,
                                  const std::vector<CsvRow>& records) const {
    std::vector<bool> taken(names.size(), true);
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (!without_name(names[c])) continue;
      taken[c] = false;
      for (std::size_t i = 1; i < records.size(); ++i) {
        const auto& fields = records[i].fields;
        const std::string text = c < fields.size() ? without_outer_blanks(fields[c]) : "";
        const bool index = c == 0 || names[c] != "";
        if (text.empty() || (index && whole_number(text))) continue;
        fail(ErrorCode::malformed, "{}: column {} has no name, but a text ('{}'); name it",
             where(records[i]), c + 1, text);
      }
    }
    return taken;
  }

  TableRow row_of(const CsvRow& record, const std::vector<std::string>& names,
                  const std::vector<bool>& taken) {
    TableRow row{where(record), {}, of_commas_};
    // Trailing separators are no fields.
    std::size_t wide = record.fields.size();
    while (wide > names.size() && without_outer_blanks(record.fields[wide - 1]).empty()) --wide;
    if (wide > names.size()) {
      fail(ErrorCode::malformed, "{}: column {} has no name, but a text ('{}')", row.where,
           names.size() + 1, shown_text(record.fields[names.size()]));
    }
    if (wide != names.size()) {
      fail(ErrorCode::malformed, "{}: {} fields, the header has {}", row.where, wide, names.size());
    }
    for (std::size_t c = 0; c < names.size(); ++c) {
      std::string text = without_outer_blanks(record.fields[c]);
      if (text.empty() || !taken[c]) continue;
      if (is_missing(text)) {
        if (missing_++ == 0) first_missing_ = text;
        continue;
      }
      text = plain_cell(std::move(text));
      if (const auto why = why_no_plain_text(text)) {
        fail(ErrorCode::malformed, "{}: {} '{}' {}, and names are plain text", row.where, names[c],
             text, *why);
      }
      row.fields[names[c]] = std::move(text);
    }
    return row;
  }

  const std::string& file_;
  bool of_commas_;
  std::size_t missing_ = 0;
  std::string first_missing_;
};

/// "1,234" and "-12,345", but neither "0,250" nor "1,25".
bool may_be_thousands(const std::string& text) {
  constexpr std::size_t kGroup = 3;
  const std::size_t first = text.starts_with("-") ? 1 : 0;
  const auto comma = text.find(',');
  if (comma == std::string::npos || comma <= first || comma - first > kGroup ||
      text.size() - comma - 1 != kGroup || text[first] == '0')
    return false;
  return std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) ==
         static_cast<std::ptrdiff_t>(text.size() - first - 1);
}

template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> decimal_number(const std::string& text) {
  std::string plain = text;
  if (plain.find('.') == std::string::npos && std::count(plain.begin(), plain.end(), ',') == 1)
    plain[plain.find(',')] = '.';
  const auto value = number_of<double>(plain);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  if (const auto value = number_of<std::int64_t>(text)) return value;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const auto value = decimal_number(text);
  if (!value || std::abs(*value) > kExact || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<int> truth_value(const std::string& text) {
  const std::string word = lowered(text);
  if (word == "true" || word == "false") return word == "true" ? 1 : 0;
  const auto value = whole_number(text);
  return value == 0 || value == 1 ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::string TableRow::get(const std::string& column) const {
  const auto found = fields.find(column);
  return found == fields.end() ? "" : found->second;
}

std::string TableRow::get_number(const std::string& column) const {
  std::string text = get(column);
  if (of_commas && may_be_thousands(text)) {
    const auto comma = text.find(',');
    const std::string before = text.substr(0, comma), after = text.substr(comma + 1);
    fail(ErrorCode::malformed,
         "{}: {} '{}' may be {}{} or {}.{}; write it without the comma of thousands, or with a "
         "point before decimals",
         where, column, text, before, after, before, after);
  }
  return text;
}

CsvTable read_csv_table(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code absent;
  if (!fs::exists(file, absent))
    fail(ErrorCode::not_found, "{}: there is no such table{}", file, url_hint(file));
  std::string bytes = read_file(file, kMostTableBytes);
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("\xD0\xCF\x11\xE0")) {
    fail(ErrorCode::malformed, "{}: is a workbook, not text; save it as CSV (Excel: 'CSV UTF-8')",
         file);
  }
  const std::string text = text_of_bytes(std::move(bytes), file);
  if (text.find('\0') != std::string::npos)
    fail(ErrorCode::malformed, "{}: holds bytes of 0, so it is no text; save it as UTF-8", file);
  const auto records = parse_csv(text, file);
  if (records.empty()) fail(ErrorCode::malformed, "{}: the table is empty", file);
  return TableMaker(file, csv_separator(text) == ',').make(records);
}

void check_columns(const CsvTable& table, const std::vector<std::string>& known,
                   const std::vector<std::string>& free) {
  const auto& header = table.header;
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : free) {
    const auto why = why_no_name(name, false);
    if (why || is_in(known, name) || !is_in(header, name)) {
      fail(ErrorCode::usage, "{} {}: {}", Option{"columns"}, name,
           why                  ? *why
           : is_in(known, name) ? "is a column that is taken anyway"
                                : fmt::format("{} has no such column", table.header_where));
    }
  }
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (!is_in(known, header[i]) && !is_in(free, header[i])) {
      const auto nearest = nearest_name(header[i], known);
      fail(ErrorCode::usage,
           "{}: column '{}' is not known{}; known columns are {}; {} {} keeps it with the images",
           table.header_where, header[i],
           nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "", fmt::join(known, ", "),
           Option{"columns"}, header[i]);
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

Json free_fields(const TableRow& row, const std::vector<std::string>& columns, bool for_volumes) {
  constexpr std::size_t kLongest = 64;
  Json fields = Json::object();
  for (const std::string& column : columns) {
    const std::string text = row.get_number(column);
    if (text.empty()) continue;
    const bool leading = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
    const auto whole = whole_number(text);
    const auto number = decimal_number(text);
    if (number && !leading && text.size() <= 15) {
      fields[column] = whole ? Json(*whole) : Json(*number);
      continue;
    }
    const auto looks = why_identifying(text);
    const auto why = looks         ? std::optional("looks like " + *looks)
                     : for_volumes ? why_no_name(text, true)
                                   : std::nullopt;
    if (why || text.size() > kLongest) {
      fail(ErrorCode::usage, "{}: {} '{}' {}, and it would enter the store", row.where, column,
           text, why ? *why : fmt::format("is longer than {}", kLongest));
    }
    fields[column] = text;
  }
  return fields;
}

void check_choice(const TableRow& row, const std::string& column,
                  const std::vector<std::string>& accepted) {
  const std::string text = row.get(column);
  if (text.empty() || std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return;
  fail(ErrorCode::usage, "{}: {} '{}' {}", row.where, column, text, none_of(text, accepted));
}

}  // namespace headrace::ingest
