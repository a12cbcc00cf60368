#pragma once
#include "python/src/bindings.hpp"

namespace headrace::python {

/// The image codecs of stores for zarr-python, and pictures as PNG files.
void bind_image_codec(nb::module_& module);

}  // namespace headrace::python
