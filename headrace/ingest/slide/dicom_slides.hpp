#pragma once
#include <cstdint>
#include <vector>

#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/slide/slide_case.hpp"

namespace headrace::ingest {

/// A slide in DICOM is the files of one series in a folder, one for each level; OpenSlide reads
/// them all, whichever is named. This merges cases that name files of one slide into one case with
/// all its files (SlideCase::parts), and removes those that name its label, overview or thumbnail.
/// Without a name, a slide of several files gets that of its folder, or the stem of its largest
/// level where the folder holds several slides.
///
/// out  bad  rows of a table that name a slide twice or no level of it; slides whose levels lie in
///           several folders, which would be several images of one slide; those of several optical
///           paths, of which OpenSlide reads one
/// returns   how many label, overview and thumbnail files were left out
std::uint64_t join_dicom_slides(std::vector<SlideCase>& slides, BadInputs& bad);

}  // namespace headrace::ingest
