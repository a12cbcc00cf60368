#include "python/src/lent_arrays.hpp"

#include <atomic>

#include "headrace/core/of_this_process.hpp"

namespace headrace::python {
namespace {

constexpr std::size_t kKept = std::size_t{256} << 20;

/// Never destroyed: arrays may outlive static objects.
struct Kept {
  const pid_t process = ::getpid();
  device::BufferPool pool{kKept};
};

constinit std::atomic<Kept*> kept{nullptr};

}  // namespace

device::BufferPool& kept_memory() {
  return of_this_process(kept, [] { return std::make_unique<Kept>(); }).pool;
}

}  // namespace headrace::python
