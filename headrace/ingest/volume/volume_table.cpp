#include "headrace/ingest/volume/volume_table.hpp"

#include <algorithm>
#include <charconv>

#include "headrace/core/error.hpp"
#include "headrace/ingest/store/store_names.hpp"

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
  const std::string text = row.get("series");
  if (text.empty()) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::malformed, "{}: series '{}' is not an integer (SeriesNumber)", row.where, text);
  }
  return value;
}

std::vector<std::string> labels_of(const TableRow& row) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : row.get("labels") + ";") {
    if (c != ';') {
      name += c;
      continue;
    }
    const auto begin = name.find_first_not_of(' ');
    if (begin != std::string::npos)
      names.push_back(name.substr(begin, name.find_last_not_of(' ') - begin + 1));
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

std::vector<VolumeRow> read_volume_table(const std::string& file, bool of_store) {
  const CsvTable table = read_csv_table(file);
  // Where a store's images have the names of their files, the table that made the store also serves
  // as a table of its images.
  const bool named =
      std::find(table.header.begin(), table.header.end(), "image") != table.header.end();
  check_columns(table, columns(of_store && named));
  std::vector<VolumeRow> rows;
  for (const TableRow& fields : table.rows) {
    check_choice(fields, "split", {"train", "val", "test"});
    const auto phase = choice_in<imaging::ContrastPhase>(fields, "phase");
    check_choice(
        fields, "negative",
        of_store ? std::vector<std::string>{"0", "1", "-"} : std::vector<std::string>{"0", "1"});
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
    if (!fields.get("negative").empty() && !row.negative_unknown)
      row.negative = fields.get("negative") == "1" ? 1 : 0;
    row.channel = fields.get("channel");
    row.series = series_of(fields);
    row.labels = labels_of(fields);
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
