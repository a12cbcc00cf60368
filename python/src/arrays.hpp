#pragma once
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/src/array_bytes.hpp"
#include "python/src/bindings.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {

/// A new C-contiguous NumPy array; its memory belongs to Python. `fill` gets element (0, …, 0), with
/// the GIL released, and may throw.
template <typename T, typename Fill>
nb::ndarray<nb::numpy, T> make_array(const std::vector<std::size_t>& shape, Fill&& fill) {
  auto memory = std::make_unique_for_overwrite<T[]>(array_bytes(shape, sizeof(T)) / sizeof(T));
  {
    const Unlocked unlocked;
    fill(memory.get());
  }
  T* data = memory.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner);
}

}  // namespace headrace::python
