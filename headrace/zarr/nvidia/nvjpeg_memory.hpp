#pragma once
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>

#include "headrace/device/memory_budget.hpp"
#include "headrace/zarr/nvidia/nvjpeg.hpp"

namespace headrace::zarr {

/// The memory that nvJPEG works in, by its hooks: taken like all other memory of the program, and
/// counted. Outlives the handle that it was given to. nvJPEG may call from any thread.
class NvjpegMemory {
 public:
  explicit NvjpegMemory(device::cuda::MemoryBudget budget);
  ~NvjpegMemory();
  NvjpegMemory(const NvjpegMemory&) = delete;
  NvjpegMemory& operator=(const NvjpegMemory&) = delete;

  Nvjpeg::Allocator* device() noexcept { return &device_; }
  Nvjpeg::Allocator* pinned() noexcept { return &pinned_; }
  /// After a call of nvJPEG with this status. Exceptions may not pass through C, so nvJPEG saw a
  /// status alone where an allocation failed: its error is thrown here. Errors: memory (the budget,
  /// or the device).
  void rethrow_if_failed(int status);

  /// While it is there, memory that nvJPEG gives back without a stream goes in the order of `stream`;
  /// otherwise all work of the GPU is waited for, that of training too. All work of nvJPEG with this
  /// memory must be done, or be in `stream`.
  class ReleaseInOrder {
   public:
    ReleaseInOrder(NvjpegMemory& memory, CUstream_st* stream) : memory_(memory) { set(stream); }
    ~ReleaseInOrder() { set(nullptr); }
    ReleaseInOrder(const ReleaseInOrder&) = delete;
    ReleaseInOrder& operator=(const ReleaseInOrder&) = delete;

   private:
    void set(CUstream_st* stream) {
      const std::lock_guard lock(memory_.mutex_);
      memory_.release_in_ = stream;
    }
    NvjpegMemory& memory_;
  };

 private:
  static int take_device(void* self, void** out, std::size_t bytes, CUstream_st*) noexcept;
  static int give_back_device(void* self, void* memory, std::size_t, CUstream_st*) noexcept;
  static int take_pinned(void* self, void** out, std::size_t bytes, CUstream_st*) noexcept;
  static int give_back_pinned(void* self, void* memory, std::size_t, CUstream_st*) noexcept;

  device::cuda::MemoryBudget budget_;
  std::mutex mutex_;
  std::map<void*, std::size_t> held_;  ///< device memory, with what was counted
  std::exception_ptr failed_;
  CUstream_st* release_in_ = nullptr;
  Nvjpeg::Allocator device_, pinned_;
};

}  // namespace headrace::zarr
