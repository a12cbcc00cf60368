#pragma once
#include <memory>

#include "headrace/zarr/array.hpp"
#include "python/src/bindings.hpp"

namespace headrace::python {

/// An array of a store as Python sees it.
struct StoredArray {
  std::shared_ptr<const zarr::Array> array;
  bool is_interleaved = false;  ///< stored as (c, y, x), given as (y, x, c)
};

void bind_stored_array(nb::module_& module);

}  // namespace headrace::python
