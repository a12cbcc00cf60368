#pragma once
#include <string>
#include <vector>

#include "headrace/imaging/dicom/pseudonym.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/unused_files.hpp"
#include "headrace/ingest/volume/volume_case.hpp"
#include "headrace/ingest/volume/volume_files.hpp"

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

/// Masks among what can't be read go to `volumes`, to be refused where they are opened, so
/// that no image goes without labels; the rest goes to `unused`.
void take_odd_masks(const VolumeFiles& files, std::vector<std::string>& volumes,
                    UnusedFiles& unused);
/// The first of those that attach_label_folder returns that could be read; empty: there is none.
std::string first_readable(const UnusedFiles& unused);

/// Gives the files below `folder` to the cases without labels: masks by name (the image file's stem
/// or the image's id, followed by nothing, _mask, _seg or .seg; of nnU-Net's case_0000 without
/// _0000, where it is the only channel; or by its folder's name, where it is
/// named as a mask or lies alone there), DICOM SEG and RTSTRUCT by their
/// references.
/// A mask that can't be read, such as a link to nothing, is given too, and refused where it is opened.
/// out     the files that fit no case, sorted; without a reason where they could be read
/// errors  not_found, usage (two masks of one image), malformed (DICOM that can't be read)
UnusedFiles attach_label_folder(const std::string& folder, const imaging::Pseudonymizer& pseudonym,
                                int jobs, std::vector<VolumeCase>& cases);

}  // namespace headrace::ingest
