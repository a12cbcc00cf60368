#pragma once
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "headrace/device/buffer.hpp"
#include "python/src/array_bytes.hpp"
#include "python/src/bindings.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {

/// Memory of arrays that Python has dropped, for the next ones: touching fresh pages costs as much
/// as a third of what is done to them. At most 256 MiB, one for the process.
device::BufferPool& kept_memory();

/// A new C-contiguous NumPy array in such memory. `fill` gets element (0, …, 0), with the GIL
/// released, and may throw.
template <typename T, typename Fill>
nb::ndarray<nb::numpy, T> lent_array(const std::vector<std::size_t>& shape, const Fill& fill) {
  const std::size_t bytes = array_bytes(shape, sizeof(T));
  auto lease = std::make_unique<device::BufferPool::Lease>();
  {
    const Unlocked unlocked;
    *lease = kept_memory().take(std::max<std::size_t>(bytes, 1));
    fill((*lease)->as<T>());
  }
  T* const data = (*lease)->as<T>();
  nb::capsule owner(lease.release(),
                    [](void* p) noexcept { delete static_cast<device::BufferPool::Lease*>(p); });
  return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner);
}

}  // namespace headrace::python
