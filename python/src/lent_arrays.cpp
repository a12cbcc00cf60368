#include "python/src/lent_arrays.hpp"

namespace headrace::python {

device::BufferPool& kept_memory() {
  constexpr std::size_t kKept = std::size_t{256} << 20;
  static auto* pool = new device::BufferPool(kKept);  // arrays may outlive static objects
  return *pool;
}

}  // namespace headrace::python
