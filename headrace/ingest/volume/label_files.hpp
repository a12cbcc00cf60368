#pragma once
#include <string>
#include <vector>

#include "headrace/imaging/dicom/pseudonym.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// Whether a stem is that of a mask: mask, seg, …_mask, …_seg.
bool named_as_mask(const std::string& stem);

/// An image and the masks beside it.
struct PairedFile {
  std::string image;
  std::vector<std::string> labels;
};
/// Removes the masks from volume files: <stem>_mask, <stem>_seg and <stem>.seg belong to <stem> in
/// the same folder, "mask" and "seg" to the only other volume there.
///
/// out  bad  masks without their image, and images with two masks, which are removed
std::vector<PairedFile> pair_with_masks(const std::vector<std::string>& files, BadInputs& bad);

/// Gives the files below `folder` to the cases without labels: masks by name (the image file's stem
/// or the image's id, followed by nothing, _mask, _seg or .seg), DICOM SEG and RTSTRUCT by their
/// references.
/// out     the files that fit no case, sorted
/// errors  not_found, usage (two masks of one image), malformed (DICOM that can't be read)
std::vector<std::string> attach_label_folder(const std::string& folder,
                                             const imaging::Pseudonymizer& pseudonym, int jobs,
                                             std::vector<VolumeCase>& cases);

}  // namespace headrace::ingest
