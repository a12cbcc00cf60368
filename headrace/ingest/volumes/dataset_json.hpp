#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/ingest/volume_case.hpp"
#include "headrace/ingest/volumes/channel_list.hpp"

namespace headrace::ingest {

/// A folder with a dataset.json, in the layout of nnU-Net (version 2, `labels` name → value) or of
/// the Medical Segmentation Decathlon (`labels` value → name, `training` [{image, label}]).
struct DatasetFolder {
  /// id, case_id, file, labels, where; split "test" of imagesTs; of several channels one case each,
  /// labels with the first.
  std::vector<VolumeCase> cases;
  ChannelList channels;
  std::vector<std::string> classes;  ///< names by value, without "ignore"
  std::optional<int> ignore_value;   ///< of label "ignore"
  std::vector<std::string> notes;
};

/// Whether dataset.json is in the folder and speaks of labels.
bool is_dataset_folder(const std::string& folder);

/// Channels must be CT or PET in SUV: one named CT; of several each CT, CT and something
/// ("CT_arterial"), a contrast phase, or what unit_of_name takes for SUV; of equal names each gets
/// its number. `channels`: names and units that replace those of the file.
///
/// source  nnU-Net documentation/dataset_format.md; medicaldecathlon.com
/// errors  not_found (an image or a label, named), malformed (a key is missing or of another type;
///         numTraining differs from what is there), unsupported (a channel that is neither,
///         regions: each says what was found), usage (another number of `channels`)
DatasetFolder read_dataset_folder(const std::string& folder, const ChannelList& channels = {});

}  // namespace headrace::ingest
