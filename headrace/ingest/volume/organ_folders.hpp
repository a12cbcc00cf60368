#pragma once
#include <map>
#include <string>
#include <vector>

namespace headrace::ingest {

/// Masks of one organ each, by the stems of their files ("liver", "kidney_left").
using OrganMasks = std::map<std::string, std::string>;

/// Folders in the layout of TotalSegmentator's data set and program: ct.nii.gz beside a folder
/// `segmentations` of masks, or beside the masks themselves.
struct OrganFolders {
  std::map<std::string, OrganMasks> masks;  ///< by CT file
  std::vector<std::string> rest;            ///< files that are not masks of organs, in their order
};

/// Removes the masks of organs from volume files. A folder with a file `ct` is such a folder if it
/// has a folder `segmentations` (searched for on the disk, so that CT files may be named alone), or
/// if a file beside the CT is named like an organ of TotalSegmentator; then every file beside the
/// CT is a mask, except those named `mask`, `seg`, `…_mask` and `…_seg`.
OrganFolders take_out_organs(const std::vector<std::string>& files);

/// The masks of a single CT file: those in the folder `segmentations` beside it.
OrganMasks organ_masks_beside(const std::string& ct_file);

/// Whether a file is named `ct`, whatever the ending of volumes.
bool is_ct_file(const std::string& path);
/// Whether a file lies in a folder named `segmentations`.
bool in_mask_folder(const std::string& path);

}  // namespace headrace::ingest
