#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "learn/predict/file_listing.hpp"

namespace headrace::predict {

/// One input of a watched folder: a slide or volume with the files that belong to it, or a folder
/// of DICOM with everything in it.
struct Arrival {
  std::string name;                 ///< below the watched folder
  std::vector<std::string> inputs;  ///< what is predicted together, below the watched folder
  std::vector<ListedFile> files;    ///< all files of it, sorted
  std::string waits_for;            ///< a file of it that is still being copied; empty: none
  bool without_folder = false;      ///< DICOM that lies in the watched folder itself
};

/// What the files of a folder are. The functions get paths below the watched folder.
struct ArrivalRules {
  std::size_t channels =
      1;  ///< that a run on volumes reads; files and series of several are joined
  std::function<bool(const ListedFile&)> is_image;  ///< a slide or volume in one file
  std::function<bool(const ListedFile&)> is_dicom;
};

/// Whether a copying program keeps an unfinished file under such a name: .part, .partial,
/// .filepart, .crdownload, .tmp.
bool is_partial_name(const std::string& path);

/// The inputs among the files of list_files, sorted by name.
/// - DICOM: the topmost folder below the watched one that has DICOM in it is one input; for runs of
///   several channels the folder above it, so that the series of a study stay together.
/// - A slide of MIRAX has the folder of its name, one of VMS or VMU the files whose names begin
///   like it, and the header of a volume the files of the same name with other endings.
/// - For runs of several channels, files x_0000, x_0001, … of one folder are one input.
/// Other files are none.
std::vector<Arrival> arrivals_in(const std::vector<ListedFile>& files, const ArrivalRules& rules);

}  // namespace headrace::predict
