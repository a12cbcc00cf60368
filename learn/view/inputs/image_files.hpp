#pragma once
#include <optional>
#include <string>
#include <vector>

#include "learn/view/inputs/view_item.hpp"

namespace headrace::view {

/// The images in a file or folder that were never ingested, as items by name: slides and plain
/// images, NIfTI, NRRD, MetaImage, DICOM slides and series. Of a folder what can't be used is left
/// out with a warning.
/// errors  not_found, usage (nothing to show), those of the readers where a file is named
std::vector<ViewItem> items_of_path(const std::string& path);

/// The image that a prediction was made from, where its file or folder is still there.
std::optional<FileImage> image_of_result(const result::ImageResult& result);

}  // namespace headrace::view
