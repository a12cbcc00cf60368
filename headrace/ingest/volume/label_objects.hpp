#pragma once
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/ingest/inputs/unused_files.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// Gives each DICOM SEG and RTSTRUCT to the image that it refers to: by the pictures that it names,
/// by series (of any channel) and, where these are of several images, by the frame of reference of
/// its structures; without a series by frame of reference where one image alone has it. Several for
/// one image are painted in the order of their hashed identifiers. Returns the files that fit no
/// image, or several: those with a reason.
UnusedFiles attach_label_objects(const std::vector<imaging::DicomLabelFile>& labels,
                                 std::vector<VolumeCase>& cases);

/// Notes of labels that a table names whether they state another frame of reference than the series.
void note_other_frames(const imaging::Pseudonymizer& pseudonym, VolumeCase& volume);

}  // namespace headrace::ingest
