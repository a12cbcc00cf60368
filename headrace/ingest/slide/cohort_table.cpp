#include "headrace/ingest/slide/cohort_table.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/imaging/pixel_size.hpp"
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
  const std::string text = row.get_number(column);
  if (text.empty()) return std::nullopt;
  const auto value = whole_number(text);
  if (!value || *value < low || *value > high) {
    fail(ErrorCode::malformed, "{}: {} '{}' is not an integer from {} to {}", row.where, column,
         text, low, high);
  }
  return static_cast<int>(*value);
}

std::optional<double> mpp_of(const TableRow& row) {
  const std::string text = row.get_number("mpp");
  if (text.empty()) return std::nullopt;
  const auto value = decimal_number(text);
  if (!value || !imaging::credible_mpp(*value)) {
    fail(ErrorCode::malformed,
         "{}: mpp '{}' is not a number of micrometres a pixel that a scan of tissue can have "
         "(0.02 to 50; 250 nanometres are 0.25)",
         row.where, text);
  }
  return value;
}

/// One thing that a row states twice. Errors: malformed, unless that is accepted.
void check_alike(const TableRow& row, const Accepted& accept, const std::string& what, int first,
                 const std::string& other, int second) {
  if (first == second) return;
  refuse_unless(accept, Doubt::grades, ErrorCode::malformed,
                fmt::format("{}: {} {} contradicts {}, which is {}: correct one of them", row.where,
                            what, first, other, second));
}

void add_grades(SlideCase& slide, const TableRow& row, const Accepted& accept) {
  slide.primary = integer(row, "primary", 0, 5);
  slide.secondary = integer(row, "secondary", 0, 5);
  slide.grade_group = integer(row, "grade_group", 0, 5);
  const auto isup = integer(row, "isup_grade", 0, 5);
  if (slide.grade_group && isup)
    check_alike(row, accept, "grade_group", *slide.grade_group, "isup_grade", *isup);
  if (!slide.grade_group) slide.grade_group = isup;
  const std::string score =
      row.get("gleason").empty() ? row.get("gleason_score") : row.get("gleason");
  if (const auto grade = parse_gleason(score, row.where)) {
    const std::string named = fmt::format("the Gleason score '{}'", score);
    if (slide.primary) check_alike(row, accept, "primary", *slide.primary, named, grade->primary);
    if (slide.secondary)
      check_alike(row, accept, "secondary", *slide.secondary, named, grade->secondary);
    if (!slide.primary) slide.primary = grade->primary;
    if (!slide.secondary) slide.secondary = grade->secondary;
  }
  if (!slide.primary || !slide.secondary) return;
  const int group = grade_group({*slide.primary, *slide.secondary});
  if (!slide.grade_group) slide.grade_group = group;
  // Of patterns 1 and 2 there are no grade groups.
  const bool graded = group == 0 || (*slide.primary >= 3 && *slide.secondary >= 3);
  if (!graded) return;
  check_alike(row, accept, isup ? "isup_grade" : "grade_group", *slide.grade_group,
              fmt::format("Gleason {}+{}", *slide.primary, *slide.secondary), group);
}

}  // namespace

CohortTable read_cohort_table(const std::string& file, const std::vector<std::string>& free,
                              bool of_store) {
  CsvTable read = read_csv_table(file);
  CohortTable table;
  table.file = file;
  table.panda = std::find(read.header.begin(), read.header.end(), "image_id") != read.header.end();
  // Where a store's images have the names of their files, the table that made the store also serves
  // as a table of its images.
  const bool named =
      std::find(read.header.begin(), read.header.end(), "image") != read.header.end();
  check_columns(read, table.panda ? panda_columns() : own_columns(of_store && named), free);
  table.rows = std::move(read.rows);
  return table;
}

SlideCase case_of_row(const TableRow& row, bool panda, const std::vector<std::string>& free,
                      const Accepted& accept) {
  SlideCase slide;
  slide.where = row.where;
  slide.free = free_fields(row, free, false);
  add_grades(slide, row, accept);
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
  slide.negative = truth_value(row.get("negative"));
  if (!slide.negative) integer(row, "negative", 0, 1);  // its error
  return slide;
}

}  // namespace headrace::ingest
