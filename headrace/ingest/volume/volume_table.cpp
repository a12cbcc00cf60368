#include "headrace/ingest/volume/volume_table.hpp"

#include <algorithm>
#include <limits>

#include "headrace/core/error.hpp"
#include "headrace/core/unicode_text.hpp"
#include "headrace/ingest/names/store_names.hpp"

namespace headrace::ingest {
namespace {

/// The first is the one that every table must have.
std::vector<std::string> columns(bool of_store) {
  const std::vector<std::string> others{"case",   "cohort",  "scanner", "split",   "phase",
                                        "series", "channel", "labels",  "negative"};
  std::vector<std::string> all{of_store ? "image" : "file", of_store ? "file" : "image"};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::optional<int> series_of(const TableRow& row) {
  const std::string text = row.get_number("series");
  if (text.empty()) return std::nullopt;
  const auto value = whole_number(text);
  if (!value || *value < std::numeric_limits<int>::min() ||
      *value > std::numeric_limits<int>::max()) {
    fail(ErrorCode::malformed, "{}: series '{}' is not an integer (SeriesNumber)", row.where, text);
  }
  return static_cast<int>(*value);
}

std::vector<std::string> labels_of(const TableRow& row) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : row.get("labels") + ";") {
    if (c != ';') {
      name += c;
      continue;
    }
    if (std::string plain = without_outer_blanks(name); !plain.empty())
      names.push_back(std::move(plain));
    name.clear();
  }
  return names;
}

}  // namespace

void check_name(const std::string& text, const std::string& what, const std::string& where) {
  const auto why = why_no_name(text, what == "cohort" || what == "scanner");
  if (!why) return;
  fail(ErrorCode::usage,
       "{}: {} '{}' {}, and it would enter the store; give a pseudonym in a table's column '{}'",
       where, what, text, *why, what);
}

std::vector<VolumeRow> read_volume_table(const std::string& file,
                                         const std::vector<std::string>& free, bool of_store) {
  const CsvTable table = read_csv_table(file);
  // Where a store's images have the names of their files, the table that made the store also serves
  // as a table of its images.
  const bool named =
      std::find(table.header.begin(), table.header.end(), "image") != table.header.end();
  check_columns(table, columns(of_store && named), free);
  std::vector<VolumeRow> rows;
  for (const TableRow& fields : table.rows) {
    check_choice(fields, "split", {"train", "val", "test"});
    const auto phase = choice_in<imaging::ContrastPhase>(fields, "phase");
    const auto negative = truth_value(fields.get("negative"));
    if (!negative) {
      check_choice(
          fields, "negative",
          of_store ? std::vector<std::string>{"0", "1", "-"} : std::vector<std::string>{"0", "1"});
    }
    VolumeRow row;
    row.where = fields.where;
    row.file = fields.get("file");
    row.image = fields.get("image");
    row.case_id = fields.get("case");
    row.cohort = fields.get("cohort");
    row.scanner = fields.get("scanner");
    row.split = fields.get("split");
    row.phase = phase;
    row.negative_unknown = fields.get("negative") == "-";
    row.negative = negative;
    row.channel = fields.get("channel");
    row.series = series_of(fields);
    row.labels = labels_of(fields);
    row.free = free_fields(fields, free, true);
    for (const char* column : {"case", "cohort", "scanner"}) {
      if (fields.get(column) != "-") continue;
      fail(ErrorCode::usage, "{}: {} '-' names nothing; name it, or leave the field empty",
           row.where, column);
    }
    if (!row.image.empty()) check_name(row.image, "image", row.where);
    if (!row.case_id.empty()) check_name(row.case_id, "case", row.where);
    if (!row.cohort.empty()) check_name(row.cohort, "cohort", row.where);
    if (!row.scanner.empty()) check_name(row.scanner, "scanner", row.where);
    if (!row.channel.empty()) check_name(row.channel, "channel", row.where);
    if (!row.channel.empty() && row.image.empty() && !of_store) {
      fail(ErrorCode::usage,
           "{}: channel '{}' of which image? Rows of one image have the same name in the column "
           "'image'",
           row.where, row.channel);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace headrace::ingest
