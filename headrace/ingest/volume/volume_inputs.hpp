#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/volume/label_volume.hpp"
#include "headrace/imaging/volume/slice_places.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/volume/channel_list.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"
#include "headrace/ingest/volume/site_key.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// The volumes of one run and the classes of their labels.
struct VolumeInputs {
  std::vector<VolumeCase> cases;     ///< sorted by id
  std::vector<std::string> classes;  ///< class names by label value; empty: no case has labels
  std::vector<ClassSet> class_sets;  ///< further label values, after those of the classes
  std::optional<int> ignore_value;   ///< of masks, in addition to 255, from dataset.json
  ChannelList channels;              ///< the channels of each case
  std::vector<std::string> notes;    ///< one sentence each: what was left out or resolved
  std::uint64_t skipped = 0;         ///< series that are not taken, scouts
  UnusedFiles unused;                ///< of the inputs and of the folder of labels
  /// The key of the pseudonyms; null where no image has one. To be stored before the first
  /// pseudonym.
  std::shared_ptr<SiteKey> key;
};

/// Finds the volumes, the facts about them, and their labels: from files, folders, trees of DICOM,
/// nnU-Net and Decathlon folders, the cohort table, the folder of labels. The result is the same
/// for any order of inputs, and for DICOM for any names of files.
///
/// out     bad  inputs that can't be used: files, series, rows of the table
/// errors  usage, not_found, malformed: of options, folders and the table; each names the file or
///         the table's line
VolumeInputs find_volume_inputs(const VolumeIngestOptions& options, BadInputs& bad);

/// Opens the voxels of a case. Errors: as imaging::open_volume and imaging::open_dicom_series.
/// Safe from any thread.
std::unique_ptr<imaging::VolumeReader> open_case(const VolumeCase& volume,
                                                 const VolumeReading& reading);

/// The same for a further channel, which must not be missing.
std::unique_ptr<imaging::VolumeReader> open_channel(const ChannelSource& channel,
                                                    const VolumeReading& reading);

/// The labels of a case on the grid of its image: label values of classes and class sets, or
/// kIgnoreLabel. Reads all label files of the case, in order, by their `coding`; a later one paints
/// over an earlier one. `volume.labels` must not be empty.
/// slices: where those of the image's source lie, on which structures and segments were drawn
/// errors  malformed (another grid; values without a class: names file, voxel and counts),
///         unsupported, corrupt, io; malformed, unless accepted: a named structure that paints
///         nothing, though the case is not stated to be negative (no_area, outside), labels that are
///         all ignore (ignore_only)
imaging::LabelVolume read_case_labels(const VolumeCase& volume, const imaging::VolumeGrid& image,
                                      const Accepted& accepted,
                                      const imaging::SlicePlaces& slices = {});

}  // namespace headrace::ingest
