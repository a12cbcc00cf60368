#include "headrace/ingest/cohort_table.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/ingest/csv.hpp"
#include "headrace/ingest/grade.hpp"
#include "headrace/ingest/label_source.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::ingest {
namespace {

const std::vector<std::string>& own_columns() {
  static const std::vector<std::string> kColumns{
      "file",      "image",       "case",    "cohort",     "scanner",    "split",  "primary",
      "secondary", "grade_group", "gleason", "isup_grade", "annotation", "coding", "mpp"};
  return kColumns;
}

const std::vector<std::string>& panda_columns() {
  static const std::vector<std::string> kColumns{"image_id", "data_provider", "isup_grade",
                                                 "gleason_score"};
  return kColumns;
}

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

void check_header(const std::vector<std::string>& header, const std::vector<std::string>& known,
                  const std::string& where) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (std::find(known.begin(), known.end(), header[i]) == known.end()) {
      const auto nearest = nearest_name(header[i], known);
      fail(ErrorCode::usage, "{}: column '{}' is not known{}; known columns are {}", where,
           header[i], nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "",
           fmt::join(known, ", "));
    }
    if (std::find(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(i), header[i]) !=
        header.begin() + static_cast<std::ptrdiff_t>(i)) {
      fail(ErrorCode::usage, "{}: column '{}' stands there twice", where, header[i]);
    }
  }
  if (std::find(header.begin(), header.end(), known[0]) == header.end()) {
    fail(ErrorCode::usage, "{}: there is no column '{}'", where, known[0]);
  }
}

std::optional<int> integer(const TableRow& row, const std::string& column, int low, int high) {
  const std::string text = row.get(column);
  if (text.empty()) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    fail(ErrorCode::malformed, "{}: {} '{}' is no integer from {} to {}", row.where, column, text,
         low, high);
  }
  return value;
}

std::optional<double> mpp_of(const TableRow& row) {
  const std::string text = row.get("mpp");
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0.001) ||
      value > 1000) {
    fail(ErrorCode::malformed, "{}: mpp '{}' is no number of micrometres a pixel (0.001 to 1000)",
         row.where, text);
  }
  return value;
}

void add_grades(SlideCase& slide, const TableRow& row) {
  slide.primary = integer(row, "primary", 0, 5);
  slide.secondary = integer(row, "secondary", 0, 5);
  slide.grade_group = integer(row, "grade_group", 0, 5);
  if (!slide.grade_group) slide.grade_group = integer(row, "isup_grade", 0, 5);
  const std::string score =
      row.get("gleason").empty() ? row.get("gleason_score") : row.get("gleason");
  if (const auto grade = parse_gleason(score, row.where)) {
    if (!slide.primary) slide.primary = grade->primary;
    if (!slide.secondary) slide.secondary = grade->secondary;
  }
  if (!slide.grade_group && slide.primary && slide.secondary) {
    slide.grade_group = grade_group({*slide.primary, *slide.secondary});
  }
}

void check_choice(const TableRow& row, const std::string& column,
                  const std::vector<std::string>& accepted) {
  const std::string text = row.get(column);
  if (text.empty() || std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return;
  const auto nearest = nearest_name(text, accepted);
  fail(ErrorCode::usage, "{}: {} '{}' is none of {}{}", row.where, column, text,
       fmt::join(accepted, ", "), nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "");
}

}  // namespace

std::string TableRow::get(const std::string& column) const {
  const auto found = fields.find(column);
  return found == fields.end() ? "" : found->second;
}

CohortTable read_cohort_table(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path(file);
  if (!fs::is_regular_file(path)) fail(ErrorCode::not_found, "{}: there is no such table", file);
  const storage::LocalStore folder(path.has_parent_path() ? path.parent_path() : fs::path("."), 1);
  const std::string name = path.filename().string();
  const auto rows = parse_csv(folder.get_text(name), file);
  if (rows.empty()) fail(ErrorCode::malformed, "{}: the table is empty", file);
  std::vector<std::string> header;
  for (const auto& column : rows[0].fields) header.push_back(trim(column));

  CohortTable table;
  table.file = file;
  table.panda = std::find(header.begin(), header.end(), "image_id") != header.end();
  check_header(header, table.panda ? panda_columns() : own_columns(),
               fmt::format("{}, line {}", file, rows[0].line));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    TableRow row{fmt::format("{}, line {}", file, rows[i].line), {}};
    if (rows[i].fields.size() != header.size()) {
      fail(ErrorCode::malformed, "{}: {} fields, the header has {}", row.where,
           rows[i].fields.size(), header.size());
    }
    for (std::size_t c = 0; c < header.size(); ++c) {
      if (const std::string text = trim(rows[i].fields[c]); !text.empty())
        row.fields[header[c]] = text;
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty())
    fail(ErrorCode::malformed, "{}: the table has a header but no rows", file);
  return table;
}

SlideCase case_of_row(const TableRow& row, bool panda) {
  SlideCase slide;
  slide.where = row.where;
  add_grades(slide, row);
  slide.mpp = mpp_of(row);
  if (panda) {
    slide.id = slide.case_id = row.get("image_id");
    slide.cohort = slide.scanner = row.get("data_provider");
    slide.coding = "panda-" + slide.cohort;
    return slide;
  }
  check_choice(row, "split", {"train", "val", "test"});
  check_choice(row, "coding", label_codings());
  slide.id = row.get("image");
  slide.case_id = row.get("case");
  slide.cohort = row.get("cohort");
  slide.scanner = row.get("scanner");
  slide.split = row.get("split");
  slide.coding = row.get("coding");
  return slide;
}

}  // namespace headrace::ingest
