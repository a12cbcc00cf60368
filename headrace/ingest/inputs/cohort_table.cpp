#include "headrace/ingest/inputs/cohort_table.hpp"

#include <algorithm>
#include <charconv>

#include "headrace/core/error.hpp"
#include "headrace/ingest/slide/grade.hpp"

namespace headrace::ingest {
namespace {

/// The first is the one that every table must have.
const std::vector<std::string>& own_columns(bool of_store) {
  static const std::vector<std::string> kOfStore{
      "image",      "file",     "case",       "cohort",      "scanner",
      "split",      "primary",  "secondary",  "grade_group", "gleason",
      "isup_grade", "negative", "annotation", "coding",      "mpp"};
  static const std::vector<std::string> kColumns{
      "file",       "image",    "case",       "cohort",      "scanner",
      "split",      "primary",  "secondary",  "grade_group", "gleason",
      "isup_grade", "negative", "annotation", "coding",      "mpp"};
  return of_store ? kOfStore : kColumns;
}

const std::vector<std::string>& panda_columns() {
  static const std::vector<std::string> kColumns{"image_id", "data_provider", "isup_grade",
                                                 "gleason_score"};
  return kColumns;
}

std::optional<int> integer(const TableRow& row, const std::string& column, int low, int high) {
  const std::string text = row.get(column);
  if (text.empty()) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    fail(ErrorCode::malformed, "{}: {} '{}' is not an integer from {} to {}", row.where, column,
         text, low, high);
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
    fail(ErrorCode::malformed,
         "{}: mpp '{}' is not a number of micrometres a pixel (0.001 to 1000)", row.where, text);
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

}  // namespace

CohortTable read_cohort_table(const std::string& file, bool of_store) {
  CsvTable read = read_csv_table(file);
  CohortTable table;
  table.file = file;
  table.panda = std::find(read.header.begin(), read.header.end(), "image_id") != read.header.end();
  // Where a store's images have the names of their files, the table that made the store also serves
  // as a table of its images.
  const bool named =
      std::find(read.header.begin(), read.header.end(), "image") != read.header.end();
  check_columns(read, table.panda ? panda_columns() : own_columns(of_store && named));
  table.rows = std::move(read.rows);
  return table;
}

SlideCase case_of_row(const TableRow& row, bool panda) {
  SlideCase slide;
  slide.where = row.where;
  add_grades(slide, row);
  slide.mpp = mpp_of(row);
  if (panda) {
    slide.id = slide.case_id = row.get("image_id");
    slide.provider = slide.cohort = slide.scanner = row.get("data_provider");
    slide.coding = value_named<MaskCoding>("panda-" + slide.cohort);
    return slide;
  }
  check_choice(row, "split", {"train", "val", "test"});
  slide.id = row.get("image");
  slide.case_id = row.get("case");
  slide.cohort = row.get("cohort");
  slide.scanner = row.get("scanner");
  slide.split = row.get("split");
  slide.coding = choice_in<MaskCoding>(row, "coding");
  slide.negative = integer(row, "negative", 0, 1);
  return slide;
}

}  // namespace headrace::ingest
