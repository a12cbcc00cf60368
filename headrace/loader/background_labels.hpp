#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "headrace/zarr/array.hpp"

namespace headrace::loader::detail {

/// A uint8 array of this shape that is 0 everywhere, of no chunks: the labels of an image that is
/// known to hold none of the classes and has no label image. It goes every way that a stored label
/// image goes, and costs no reads.
std::shared_ptr<const zarr::Array> background_labels(const std::vector<std::int64_t>& shape);

}  // namespace headrace::loader::detail
