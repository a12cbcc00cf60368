#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/inputs/csv_table.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/slide/slide_case.hpp"

namespace headrace::ingest {

/// A cohort table: CSV with a header. docs/formats.md gives the meaning of the columns.
struct CohortTable {
  std::string file;
  bool panda = false;  ///< train.csv of the PANDA challenge: image_id, data_provider, isup_grade,
                       ///< gleason_score
  std::vector<TableRow> rows;
};

/// Errors: not_found, malformed (line), usage (an unknown column, with the nearest; no column
/// `file`).
/// free: columns that are kept as they are (free_fields).
/// of_store: rows are of images of a store, so the column `image` replaces `file`.
CohortTable read_cohort_table(const std::string& file, const std::vector<std::string>& free,
                              bool of_store = false);

/// What a row states about its image, without file and annotation. Errors: malformed and usage,
/// with the row's line (grades that contradict each other, unless that is accepted).
SlideCase case_of_row(const TableRow& row, bool panda, const std::vector<std::string>& free,
                      const Accepted& accept);

}  // namespace headrace::ingest
