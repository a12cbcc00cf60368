#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/ingest/volume_case.hpp"

namespace headrace::ingest {

/// A folder with a dataset.json, in the layout of nnU-Net (version 2, `labels` name → value) or of
/// the Medical Segmentation Decathlon (`labels` value → name, `training` [{image, label}]).
struct DatasetFolder {
  std::vector<VolumeCase> cases;     ///< id, case_id, file, labels, where; split "test" of imagesTs
  std::vector<std::string> classes;  ///< names by value, without "ignore"
  std::optional<int> ignore_value;   ///< of label "ignore"
  std::vector<std::string> notes;
};

/// Whether dataset.json is in the folder and speaks of labels.
bool is_dataset_folder(const std::string& folder);

/// One channel, CT, is read. source: nnU-Net documentation/dataset_format.md; medicaldecathlon.com
/// errors  not_found (an image or a label, named), malformed (a key is missing or of another type;
///         numTraining differs from what is there), unsupported (several channels, a modality that
///         is no CT, regions: each says what was found)
DatasetFolder read_dataset_folder(const std::string& folder);

}  // namespace headrace::ingest
