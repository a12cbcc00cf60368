#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/inputs/csv_table.hpp"
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
/// of_store: rows are of images of a store, so the column `image` replaces `file`.
CohortTable read_cohort_table(const std::string& file, bool of_store = false);

/// What a row states about its image, without file and annotation. Errors: malformed and usage,
/// with the row's line.
SlideCase case_of_row(const TableRow& row, bool panda);

}  // namespace headrace::ingest
