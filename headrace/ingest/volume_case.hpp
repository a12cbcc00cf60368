#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"

namespace headrace::ingest {

/// One volume to ingest and what is known of it before its voxels are read. Everything in it may
/// enter the store, but for `file`, `series`, `labels` and `where`.
struct VolumeCase {
  std::string id;  ///< name below images/
  std::string case_id, cohort, split, phase;
  std::string file;                                 ///< NIfTI, NRRD or MetaImage; else
  std::optional<imaging::DicomSeries> series;       ///< a DICOM series
  std::vector<std::string> labels;                  ///< NIfTI, NRRD, DICOM SEG, RTSTRUCT; in order
  std::vector<std::pair<std::string, int>> coding;  ///< names of a label file's values → class
  std::string where;  ///< "cases.csv, line 7" or "dataset.json", for error texts; empty without
};

}  // namespace headrace::ingest
