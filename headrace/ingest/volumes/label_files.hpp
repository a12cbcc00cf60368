#pragma once
#include <string>
#include <vector>

#include "headrace/imaging/dicom/pseudonym.hpp"
#include "headrace/ingest/volume_case.hpp"

namespace headrace::ingest {

/// Masks beside their images: a volume file named <stem>_mask or <stem>_seg in the folder of <stem>
/// is its label, not an image. Takes them out of `files`, and gives them to the cases made of the
/// rest.
struct PairedFile {
  std::string image;
  std::vector<std::string> labels;
};
std::vector<PairedFile> pair_with_masks(const std::vector<std::string>& files);

/// Gives the files below `folder` to the cases without labels: masks by name (the image file's stem
/// or the image's id, with nothing, _mask or _seg behind), DICOM SEG and RTSTRUCT by what they
/// refer to.
/// out     the files that fit no case, sorted
/// errors  not_found, usage (two masks of one image), malformed (DICOM that can't be read)
std::vector<std::string> attach_label_folder(const std::string& folder,
                                             const imaging::Pseudonymizer& pseudonym, int jobs,
                                             std::vector<VolumeCase>& cases);

}  // namespace headrace::ingest
