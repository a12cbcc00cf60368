#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/ingest/inputs/unused_files.hpp"
#include "headrace/ingest/volume/channel_list.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// A folder with a dataset.json, in the layout of nnU-Net (version 2, `labels` name → value) or of
/// the Medical Segmentation Decathlon (`labels` value → name, `training` [{image, label}]).
struct DatasetFolder {
  /// With id, case_id, file, labels and where; split "test" for imagesTs; one case for each of
  /// several channels, labels with the first.
  std::vector<VolumeCase> cases;
  ChannelList channels;
  std::vector<std::string> classes;  ///< names by value, without "ignore"
  std::optional<int> ignore_value;   ///< value of the label "ignore"
  std::vector<std::string> notes;
};

/// Whether dataset.json is in the folder and has labels.
bool is_dataset_folder(const std::string& folder);

/// Labels as read_label_list takes them. Channels must be CT or PET in SUV; nnU-Net's "noNorm" is
/// taken as CT, and a note says so. A single one must be named CT; each of several must be named
/// CT, CT with an addition ("CT_arterial"), a contrast phase, or a name that unit_of_name takes for
/// SUV; equal names get their numbers. `channels`: names and units that replace those of the file.
///
/// source  nnU-Net documentation/dataset_format.md; medicaldecathlon.com
/// errors  not_found (an image or a label, named), malformed (a key is missing or of another type;
///         numTraining differs from the number of cases), unsupported (a channel that is neither,
///         regions without an order: each states what was found), usage (another number of `channels`)
DatasetFolder read_dataset_folder(const std::string& folder, const ChannelList& channels = {});

/// One store has one list of classes and one of channels. Errors: usage (two folders that differ).
void check_alike(const std::string& folder, const DatasetFolder& dataset, const std::string& other,
                 const DatasetFolder& dataset_of_other);

/// Volumes, masks and what can't be read below a dataset's folder that belong to none of its cases.
UnusedFiles files_of_no_case(const std::string& folder, const std::vector<VolumeCase>& cases);

}  // namespace headrace::ingest
