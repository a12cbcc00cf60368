#pragma once
#include <string>
#include <vector>

namespace headrace::ingest {

/// Files of one input that may be volumes, sorted. Hidden files are left out.
struct VolumeFiles {
  std::vector<std::string> volumes;  ///< NIfTI, NRRD, MetaImage; in folders recognised by their
                                     ///< endings
  std::vector<std::string> others;   ///< may be DICOM, which has no ending of its own
};

/// Errors: not_found, io; each names the input.
VolumeFiles volume_files(const std::string& input);

/// Whether a name has an ending of volumes: .nii .nii.gz .nrrd .nhdr .mha .mhd
bool has_volume_ending(const std::string& path);

/// A file's name without folder and without the ending of volumes (else without the last ending).
std::string volume_stem(const std::string& path);

/// Whether `path` lies in `folder`, or below it; false when `folder` is empty.
bool lies_below(const std::string& path, const std::string& folder);

}  // namespace headrace::ingest
