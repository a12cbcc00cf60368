#pragma once
#include <string>

#include "learn/handover/ome_zarr/plain_image.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// The picture that was predicted, read from its file: of a slide the levels that the file has; of
/// a volume level 0 in the order of the map (LPS), which is held whole, as stores hold it (HU; PET
/// in hundredths of SUV). `source`: the file, or a folder with the file that is named after the image, or with
/// its DICOM slide or series.
/// errors  usage (another size or grid than the prediction's; several channels), those of reading
///         it
PlainImage file_image(const result::ImageFacts& facts, const std::string& source);

}  // namespace headrace::handover
