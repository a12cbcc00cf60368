#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/unused_files.hpp"

namespace headrace::ingest {

/// Slides and images among `inputs`: files as named, folders searched, linked ones too, but not
/// below `annotations`. A file is taken by the ending that slides and images have, or, where its
/// name has none, by its content. Sorted, each file once, however many links lead to it. Errors:
/// usage (a folder without any).
///
/// out  bad     missing inputs
///      unused  files of the folders that are not taken; may be null
std::vector<std::string> image_files(const std::vector<std::string>& inputs,
                                     const std::string& annotations, BadInputs& bad,
                                     UnusedFiles* unused = nullptr);

/// Whether a name ends as the files of slides and images do.
bool has_image_ending(const std::string& name);

/// Whether a file is DICOM by its ending (.dcm), or by its content where its name has no ending of
/// another format.
bool is_named_or_seen_dicom(const std::string& path);

}  // namespace headrace::ingest
