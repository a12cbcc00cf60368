#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// Names files of equal stems by their folders (P1/ct.nii.gz, P2/ct.nii.gz: P1, P2; with several
/// such files in a folder P1_ct, P1_pet), where that tells all of them apart. Cases that have an id
/// keep it.
void name_by_folders(std::vector<VolumeCase>& cases);

/// Names the images of files image-0001, image-0002, … in the order of their ids (for those without
/// one, of their stems), then of their files; series of DICOM have pseudonyms, and what a table
/// names keeps its name. A case that had the image's name gets the new one. Returns a sentence for
/// each image.
std::vector<std::string> number_images(std::vector<VolumeCase>& cases);

}  // namespace headrace::ingest
