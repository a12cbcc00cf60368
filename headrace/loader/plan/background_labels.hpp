#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "headrace/zarr/array.hpp"

namespace headrace::loader::detail {

/// A uint8 array of this shape that is 0 everywhere and has no chunks: the labels of an image that
/// is known to hold none of the classes and has no label image. It is used like a stored label
/// image, and costs no reads.
std::shared_ptr<const zarr::Array> background_labels(const std::vector<std::int64_t>& shape);

}  // namespace headrace::loader::detail
