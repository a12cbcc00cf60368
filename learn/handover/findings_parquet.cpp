#include "learn/handover/findings_parquet.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "headrace/core/csv.hpp"
#include "headrace/core/csv_line.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/read_file.hpp"
#include "learn/handover/findings_table.hpp"
#include "learn/handover/parquet/parquet_writer.hpp"

namespace headrace::handover {
namespace {

constexpr const char* kId = "id";

/// By name: what a table holds decides nothing, or an empty one would have other types.
ParquetType type_of(std::string_view column) {
  constexpr std::array<std::string_view, 4> kTexts{kId, "case", "class", "location"};
  constexpr std::array<std::string_view, 2> kBooleans{"tumour", "flagged"};
  constexpr std::array<std::string_view, 12> kIntegers{
      "number",   "pixels",     "equivocal_rank", "lesion",  "diameter_slice_index_z",
      "slides",   "studies",    "lesions",        "primary", "secondary",
      "tertiary", "grade_group"};
  constexpr std::array<std::string_view, 4> kNumbers{"score", "probability", "mean_entropy",
                                                     "tumour_share"};
  constexpr std::array<std::string_view, 5> kNumberStarts{"centroid_", "box_", "mean_probability_",
                                                          "area_mm2_", "volume_ml_"};
  constexpr std::array<std::string_view, 3> kNumberEnds{"_mm", "_mm2", "_ml"};
  const auto is = [&](std::string_view name) { return name == column; };
  if (std::any_of(kTexts.begin(), kTexts.end(), is)) return ParquetType::text;
  if (std::any_of(kBooleans.begin(), kBooleans.end(), is)) return ParquetType::boolean;
  if (std::any_of(kIntegers.begin(), kIntegers.end(), is)) return ParquetType::int64;
  if (std::any_of(kNumbers.begin(), kNumbers.end(), is)) return ParquetType::float64;
  const auto starts = [&](std::string_view start) { return column.starts_with(start); };
  const auto ends = [&](std::string_view end) { return column.ends_with(end); };
  if (std::any_of(kNumberStarts.begin(), kNumberStarts.end(), starts) ||
      std::any_of(kNumberEnds.begin(), kNumberEnds.end(), ends)) {
    return ParquetType::float64;
  }
  return ParquetType::text;
}

template <typename Number>
Json number_in(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end ? Json(value) : Json();
}

Json truth_in(const std::string& text) {
  if (text == "true" || text == "yes") return true;
  if (text == "false" || text == "no") return false;
  return {};
}

Json cell_of(ParquetType type, const std::string& text) {
  switch (type) {
    case ParquetType::boolean:
      return truth_in(text);
    case ParquetType::int64:
      return number_in<std::int64_t>(text);
    case ParquetType::float64:
      return number_in<double>(text);
    case ParquetType::text:
      break;
  }
  return text;
}

/// id: of the image, for a table without such a column; empty: none is added.
void write_table(const std::filesystem::path& table, const std::string& id,
                 const std::filesystem::path& path) {
  const std::vector<CsvRow> rows = parse_csv(read_file(table), table.string());
  if (rows.empty()) fail(ErrorCode::malformed, "{}: without a header", table.string());
  const std::vector<std::string>& names = rows.front().fields;
  const bool with_id = !id.empty() && std::find(names.begin(), names.end(), kId) == names.end();
  std::vector<ParquetColumn> columns;
  if (with_id) columns.push_back({kId, ParquetType::text, false});
  for (const std::string& name : names) columns.push_back({name, type_of(name), true});
  ParquetWriter writer(path, columns);
  for (std::size_t r = 1; r < rows.size(); ++r) {
    std::vector<std::string> fields = rows[r].fields;
    for (std::string& field : fields) field = plain_cell(std::move(field));
    std::vector<Json> cells;
    if (with_id) cells.emplace_back(id);
    for (std::size_t f = 0; f < fields.size() && cells.size() < columns.size(); ++f) {
      const ParquetColumn& column = columns[cells.size()];
      cells.push_back(fields[f].empty() ? Json() : cell_of(column.type, fields[f]));
      if (cells.back().is_null() && !fields[f].empty()) {
        fail(ErrorCode::malformed, "{}, line {}: '{}' can't be a value of column '{}'",
             table.string(), rows[r].line, fields[f], column.name);
      }
    }
    writer.add(cells);
  }
  writer.finish();
}

}  // namespace

void write_findings_parquet(const result::ImageResult& result, const std::string& table,
                            const std::filesystem::path& path) {
  write_table(findings_table(result, table), result.facts().id, path);
}

void write_cases_parquet(const std::filesystem::path& table, const std::filesystem::path& path) {
  write_table(table, "", path);
}

}  // namespace headrace::handover
