#pragma once
#include "headrace/core/error.hpp"

namespace headrace::device::cuda {

/// Sets what is called, on any thread, when memory of a GPU runs out: a library of this process
/// that keeps memory it does not use gives it back (LibTorch's cache). Null: nothing is called.
void set_memory_relief(void (*give_back)() noexcept) noexcept;
/// Calls it. False where nothing is set.
bool relieve_memory() noexcept;

/// What `allocate` returns; where it has no memory, once more after relieve_memory().
template <typename Allocate>
auto with_relief(const Allocate& allocate) {
  try {
    return allocate();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::memory || !relieve_memory()) throw;
  }
  return allocate();
}

}  // namespace headrace::device::cuda
