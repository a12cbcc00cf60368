#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/volume/channel_list.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// Series of a scan as cases: one image for each series, one case for each patient, named by keyed
/// hashes, so that neither depends on the files' names.
struct DicomCases {
  std::vector<VolumeCase> cases;
  std::vector<std::string> notes;  ///< what was left out
  std::uint64_t skipped = 0;       ///< series that are not taken, scouts
  /// Studies (pseudonym_id) with a series that can't be used.
  std::set<std::string> broken_studies;
  std::string unplaced;  ///< a file that can't be read and may belong to any study; empty: none
};

/// Left out are scouts, stacks of one or two slices beside a larger one of their series, series
/// that are not taken, and PET without correction of attenuation beside a series of the study that
/// has it.
/// out     bad  the scan's problems. Series with equal numbers are left out, and so are all that
///         have a file in the folder of one that can't be read, since it may be a slice of any of
///         them
DicomCases cases_of_scan(const imaging::DicomScan& scan, const ChannelList& channels,
                         BadInputs& bad);

/// Gives each DICOM SEG and RTSTRUCT to the image that it refers to: by series (of any channel),
/// else by frame of reference where one image alone has it. Several for one image are painted in
/// the order of their hashed identifiers. Returns the files that fit no image.
std::vector<std::string> attach_label_objects(const std::vector<imaging::DicomLabelFile>& labels,
                                              std::vector<VolumeCase>& cases);

/// Whether a series may become a volume or a channel: CT, and PET where a channel is in SUV; never
/// a scout.
bool is_taken(const imaging::DicomSeries& series, const ChannelList& channels);

/// What a scan found besides the usable series: "2 series of modality MR, 1 scout"; empty when
/// nothing.
std::string other_series(const imaging::DicomScan& scan, const ChannelList& channels);

}  // namespace headrace::ingest
