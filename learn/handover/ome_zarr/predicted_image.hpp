#pragma once
#include <string>

#include "learn/handover/ome_zarr/plain_image.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// The image that was predicted, and beside it the prediction's label images: labels/classes (255
/// where nothing was predicted) and, where the run looks for lesions, labels/lesions. They have as
/// many levels as the image: those of the result, coarser ones thinned from its last. Labels of a
/// slide have their own, coarser pixels; scales and translations put them over the image.
///
/// `source`: the store (an image of the prediction's id in it), file or folder that was predicted.
/// errors  usage (another image than the one that was predicted), those of reading it
PlainImage predicted_image(const result::ImageResult& result, const std::string& source);

}  // namespace headrace::handover
