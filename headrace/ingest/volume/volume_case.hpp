#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/intensity_unit.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/ingest/volume/mask_peers.hpp"

namespace headrace::ingest {

/// The source of a further channel of a volume; neither file nor series: the volume lacks it.
struct ChannelSource {
  std::string name;
  IntensityUnit unit = IntensityUnit::hu;
  std::string file;                            ///< NIfTI, NRRD or MetaImage; else
  std::optional<imaging::DicomSeries> series;  ///< a DICOM series
  std::string where;                           ///< as in VolumeCase::where

  bool missing() const { return file.empty() && !series; }
};

/// The words in front of an error about a file or a series.
inline std::string describe(const std::string& file,
                            const std::optional<imaging::DicomSeries>& series) {
  return series ? "the series with " + series->slices.front().path : file;
}

/// One volume to ingest and what is known about it before its voxels are read. All of it may enter
/// the store, except `file`, `series`, `labels` and `where`.
struct VolumeCase {
  std::string id;          ///< name below images/
  bool id_stated = false;  ///< by the table
  std::string case_id, cohort, split;
  std::string stated_case, stated_cohort;  ///< by the table; empty: derived
  std::string stated_split;                ///< by the table or dataset.json; empty: derived
  imaging::ContrastPhase phase = imaging::ContrastPhase::unknown;
  std::string scanner;                         ///< by the table; empty: not known
  Json free = Json::object();                  ///< free columns of its row
  std::optional<int> negative;                 ///< 1: known to hold no class above 0
  std::string file;                            ///< NIfTI, NRRD or MetaImage; else
  std::optional<imaging::DicomSeries> series;  ///< a DICOM series
  std::vector<std::string> labels;             ///< NIfTI, NRRD, DICOM SEG, RTSTRUCT; in order
  std::string label_set = "annotation";        ///< their label set
  std::map<std::string, std::string> organs;   ///< masks of one organ each by name: classes pick
  bool labels_stated = false;                  ///< a table names each of them
  bool labels_by_frame = false;     ///< some were matched by their frame of reference alone
  bool labels_other_frame = false;  ///< some state another frame of reference than their series
  /// What the labels mean: "value 2" of a mask → class, "name Liver" of a segment or structure →
  /// class, "mask liver": everything above 0 in the file of that stem → class. Values that are not
  /// listed here are refused; names that are not listed are left out.
  std::vector<std::pair<std::string, int>> coding;
  std::set<std::string> masks_by_name;  ///< masks of `labels` that are read by names of segments
  /// Files and classes that a newer file replaces.
  std::set<std::pair<std::string, int>> replaced;
  std::shared_ptr<const MaskPeers> mask_peers;  ///< all masks of the run
  /// Its channel in the store, until the channels of an image are joined (channels.hpp); then the
  /// channel of `file` or `series`, the first one. Empty: a store of one channel.
  std::string channel;
  std::vector<ChannelSource> further;  ///< the other channels, in the store's order
  std::string where;  ///< "cases.csv, line 7" or "dataset.json", for error texts; empty without
};

/// The words in front of an error about this case.
inline std::string describe(const VolumeCase& volume) {
  const std::string file = describe(volume.file, volume.series);
  return volume.where.empty() ? file : volume.where + ", " + file;
}

/// For the beginning of an error: where an image is named, and where one of its further channels
/// is.
inline std::string place_of(const VolumeCase& volume) {
  return volume.where.empty() ? "image " + volume.id : volume.where;
}
inline std::string place_of(const VolumeCase& volume, const ChannelSource& channel) {
  return channel.where.empty() ? place_of(volume) : channel.where;
}

}  // namespace headrace::ingest
