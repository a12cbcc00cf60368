#pragma once
#include <nanobind/ndarray.h>
#include <unistd.h>

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
/// as a third of what is done to them. At most 256 MiB, one for each process.
device::BufferPool& kept_memory();

struct LentMemory {
  device::BufferPool::Lease lease;
  const pid_t lent_in = ::getpid();
};

/// A new C-contiguous NumPy array in such memory. `fill` gets element (0, …, 0), with the GIL
/// released, and may throw.
template <typename T, typename Fill>
nb::ndarray<nb::numpy, T> lent_array(const std::vector<std::size_t>& shape, const Fill& fill) {
  const std::size_t bytes = array_bytes(shape, sizeof(T));
  auto lent = std::make_unique<LentMemory>();
  {
    const Unlocked unlocked;
    lent->lease = kept_memory().take(std::max<std::size_t>(bytes, 1));
    fill(lent->lease->as<T>());
  }
  T* const data = lent->lease->as<T>();
  // A forked process leaves its parent's memory alone: the lock of what it goes back to may be held.
  nb::capsule owner(lent.release(), [](void* p) noexcept {
    auto* mine = static_cast<LentMemory*>(p);
    if (mine->lent_in == ::getpid()) delete mine;
  });
  return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner);
}

}  // namespace headrace::python
