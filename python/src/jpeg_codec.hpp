#pragma once
#include "python/src/bindings.hpp"

namespace headrace::python {

/// The stores' JPEG codec for zarr-python, and pictures as PNG files.
void bind_jpeg_codec(nb::module_& module);

}  // namespace headrace::python
