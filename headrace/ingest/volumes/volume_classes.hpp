#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/ingest/volume_case.hpp"

namespace headrace::ingest {

/// What is said of the classes before any label is read.
struct StatedClasses {
  std::vector<std::string> given;    ///< --classes: "name", or "name=Structure|Other structure"
  std::vector<std::string> dataset;  ///< names of a dataset.json
  std::optional<int> ignore_value;   ///< of a dataset.json
};

/// Settles the classes of a run, and how each case's labels become classes (VolumeCase::coding).
/// Given names come first, then those of dataset.json. Without either, masks of 0 and 1 have
/// background and lesion, others class_1 … to the largest value found. Segments and structures of
/// DICOM have free text for names: their classes must be given.
///
/// out     notes  names of DICOM labels that are left out (how many), classes that no case names
/// errors  usage (names that are not distinct, no fitting --classes; those found are listed),
///         malformed (a mask's value), as imaging::open_volume and read_label_names
std::vector<std::string> settle_classes(const StatedClasses& stated, int jobs,
                                        std::vector<VolumeCase>& cases,
                                        std::vector<std::string>& notes);

}  // namespace headrace::ingest
