#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/inputs/unused_files.hpp"

namespace headrace::ingest {

/// Files of one input that may be volumes, sorted; linked folders are looked into, each once. Hidden
/// files are left out.
struct VolumeFiles {
  std::vector<std::string> volumes;  ///< NIfTI, NRRD, MetaImage; in folders recognised by their
                                     ///< endings
  std::vector<std::string> others;   ///< may be DICOM, which has no ending of its own
  UnusedFiles odd;                   ///< what is neither a file nor a folder: why it is not read
};

/// Those of `odd` that are named as volumes and can't be opened, to be refused where a mask of that
/// name is asked for. Sorted.
std::vector<std::string> odd_volumes(const VolumeFiles& files);

/// Errors: not_found, io; each names the input.
VolumeFiles volume_files(const std::string& input);

/// Whether a name has an ending of volumes: .nii .nii.gz .nrrd .nhdr .mha .mhd
bool has_volume_ending(const std::string& path);

/// A file's name without folder and without the ending of volumes (else without the last ending).
std::string volume_stem(const std::string& path);

/// The name of the folder that a file lies in.
std::string parent_name(const std::string& path);

}  // namespace headrace::ingest
