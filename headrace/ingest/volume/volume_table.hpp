#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/ingest/inputs/csv_table.hpp"

namespace headrace::ingest {

/// One row of the cohort table of volumes; docs/formats.md has the meaning of the columns.
struct VolumeRow {
  std::string where;
  std::string file;  ///< as written: a file, or a folder of DICOM
  std::string image, case_id, cohort, scanner, split;
  std::optional<imaging::ContrastPhase> phase;
  std::optional<int> negative;      ///< 0 or 1
  bool negative_unknown = false;    ///< '-', in a table for a store: no longer known
  std::string channel;              ///< of the image; empty: a store of one channel
  std::optional<int> series;        ///< SeriesNumber, for a folder with several series
  std::vector<std::string> labels;  ///< as written, separated by ';'
  Json free = Json::object();       ///< free columns
};

/// Errors: not_found, malformed and usage with the table's line: unknown columns, a split or phase
/// that does not exist, names that hold other letters than the store takes, or look like a date, a
/// UID or a person's name.
/// free: columns that are kept as they are (free_fields).
/// of_store: rows are of images of a store, so the column `image` is required, not `file`.
std::vector<VolumeRow> read_volume_table(const std::string& file,
                                         const std::vector<std::string>& free,
                                         bool of_store = false);

/// Refuses a text for the store that may identify a patient. `what`: "image", "case", "cohort",
/// "channel". Errors: usage.
void check_name(const std::string& text, const std::string& what, const std::string& where);

}  // namespace headrace::ingest
