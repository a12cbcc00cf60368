#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/unused_files.hpp"
#include "headrace/ingest/volume/channel_list.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// Series of a scan as cases: one image for each series, one case for each patient, named by keyed
/// hashes, so that neither depends on the files' names.
struct DicomCases {
  std::vector<VolumeCase> cases;
  std::vector<std::string> notes;  ///< what was left out
  std::uint64_t skipped = 0;       ///< series that are not taken, scouts
  UnusedFiles unused;              ///< files that are no part of a series
  /// Studies (pseudonym_id) with a series that can't be used.
  std::set<std::string> broken_studies;
  std::string unplaced;  ///< a file that can't be read and may belong to any study; empty: none
};

/// Left out are scouts, stacks and series of one or two slices beside a larger one of their series
/// or study, pictures that all lie in one place, series that are not taken, and PET without correction of attenuation beside a series of the study that
/// has it.
/// in      acquisition  see VolumeSourceOptions
/// out     bad  the scan's problems, and series of several acquisitions without a choice. Series with equal numbers are left out, and so are all that
///         have a file in the folder of one that can't be read, since it may be a slice of any of
///         them
DicomCases cases_of_scan(const imaging::DicomScan& scan, const ChannelList& channels,
                         const std::string& acquisition, BadInputs& bad);

/// Whether a series may become a volume or a channel: CT in HU, and PET where a channel is in SUV;
/// never a scout.
bool is_taken(const imaging::DicomSeries& series, const ChannelList& channels);

/// What a scan found besides the usable series: "2 series of modality MR, 1 scout"; empty when
/// nothing.
std::string other_series(const imaging::DicomScan& scan, const ChannelList& channels);

/// SeriesNumber of each case, "none" where it has none: "2, 5".
std::string series_numbers(const std::vector<VolumeCase>& cases);

}  // namespace headrace::ingest
