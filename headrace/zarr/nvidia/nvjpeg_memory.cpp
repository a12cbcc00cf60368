#include "headrace/zarr/nvidia/nvjpeg_memory.hpp"

#include <utility>

#include "headrace/device/cuda_device.hpp"

namespace headrace::zarr {
namespace {

using Pinned = device::cuda::PinnedMemory;

NvjpegMemory& memory_of(void* self) { return *static_cast<NvjpegMemory*>(self); }

}  // namespace

NvjpegMemory::NvjpegMemory(device::cuda::MemoryBudget budget)
    : budget_(std::move(budget)),
      device_{take_device, give_back_device, this},
      pinned_{take_pinned, give_back_pinned, this} {}

/// What nvJPEG has not given back goes too: its handle is gone.
NvjpegMemory::~NvjpegMemory() {
  for (const auto& [memory, bytes] : held_) {
    budget_.release(memory, bytes, nullptr);
  }
}

void NvjpegMemory::rethrow_if_failed(int status) {
  std::exception_ptr failed;
  {
    const std::lock_guard lock(mutex_);
    failed = std::exchange(failed_, nullptr);
  }
  if (status != 0 && failed) std::rethrow_exception(failed);
}

int NvjpegMemory::take_device(void* self, void** out, std::size_t bytes,
                              CUstream_st* stream) noexcept {
  NvjpegMemory& mine = memory_of(self);
  const std::lock_guard lock(mine.mutex_);
  try {
    void* memory = mine.budget_.allocate(bytes, stream);
    try {
      mine.held_.emplace(memory, bytes);
    } catch (...) {
      mine.budget_.release(memory, bytes, stream);
      throw;
    }
    *out = memory;
    return 0;
  } catch (...) {
    mine.failed_ = std::current_exception();
    return 1;
  }
}

int NvjpegMemory::give_back_device(void* self, void* memory, std::size_t,
                                   CUstream_st* stream) noexcept {
  NvjpegMemory& mine = memory_of(self);
  if (memory == nullptr) return 0;
  const std::lock_guard lock(mine.mutex_);
  const auto found = mine.held_.find(memory);
  if (found == mine.held_.end()) return 1;
  mine.budget_.release(memory, found->second, stream != nullptr ? stream : mine.release_in_);
  mine.held_.erase(found);
  return 0;
}

int NvjpegMemory::take_pinned(void* self, void** out, std::size_t bytes, CUstream_st*) noexcept {
  try {
    *out = Pinned::allocate(bytes);
    return 0;
  } catch (...) {
    NvjpegMemory& mine = memory_of(self);
    const std::lock_guard lock(mine.mutex_);
    mine.failed_ = std::current_exception();
    return 1;
  }
}

int NvjpegMemory::give_back_pinned(void*, void* memory, std::size_t, CUstream_st*) noexcept {
  Pinned::release(memory);
  return 0;
}

}  // namespace headrace::zarr
