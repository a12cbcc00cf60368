#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/volume/structure_sets.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// What is stated about the classes before any label is read.
struct StatedClasses {
  std::vector<std::string> given;       ///< --classes, as named_classes reads them
  std::vector<std::string> dataset;     ///< names of a dataset.json
  std::string label_folder;             ///< may have a dataset.json of its masks; or empty
  std::optional<int> ignore_value;      ///< of a dataset.json
  std::vector<std::string> class_sets;  ///< --class-sets: "NAME=CLASS+CLASS"
  StructureSets structure_sets = StructureSets::refuse;
};

/// The meaning of label values.
struct SettledClasses {
  std::vector<std::string> classes;  ///< by label value; empty: no case has labels
  std::vector<ClassSet> class_sets;  ///< the values after those
  std::optional<int> ignore_value;   ///< of masks, in addition to 255
};

/// Determines the classes of a run, and how each case's labels become classes (VolumeCase::coding).
/// Given names come first, then those of dataset.json. Without either, masks of 0 and 1 have
/// background and lesion; others have class_1 … up to the largest value found. Segments and
/// structures of DICOM have free text for names: their classes must be given.
///
/// out     cases  without those whose labels are bad
///         notes  number of label names that are left out, of files that newer ones replace
///         bad    cases with label files that can't be read or have no fitting names: as
///                imaging::open_volume and read_label_names, malformed (a mask's value), usage
/// errors  usage (names that are not distinct, none where they are needed; those found are listed)
SettledClasses settle_classes(const StatedClasses& stated, int jobs, std::vector<VolumeCase>& cases,
                              std::vector<std::string>& notes, BadInputs& bad);

}  // namespace headrace::ingest
