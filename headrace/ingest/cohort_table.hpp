#pragma once
#include <map>
#include <string>
#include <vector>

#include "headrace/ingest/slide_case.hpp"

namespace headrace::ingest {

/// One row of a cohort table, by column; empty fields are left out.
struct TableRow {
  std::string where;  ///< "cases.csv, line 7"
  std::map<std::string, std::string> fields;

  std::string get(const std::string& column) const;
};

/// A cohort table: CSV with a header. docs/formats.md says what the columns mean.
struct CohortTable {
  std::string file;
  bool panda = false;  ///< train.csv of the PANDA challenge: image_id, data_provider, isup_grade,
                       ///< gleason_score
  std::vector<TableRow> rows;
};

/// Errors: not_found, malformed (line), usage (an unknown column, with the nearest; no column
/// `file`).
CohortTable read_cohort_table(const std::string& file);

/// What a row says of its image, without file and annotation. Errors: malformed and usage, with the
/// row's line.
SlideCase case_of_row(const TableRow& row, bool panda);

}  // namespace headrace::ingest
