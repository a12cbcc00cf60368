#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "headrace/device/cuda_device.hpp"
#include "headrace/device/memory_pool.hpp"

namespace headrace::device::cuda {

/// A bound on memory of a GPU, asked before more of it is taken. Copies share the bound and what
/// has been taken of it; one that is made without a limit has no bound. Whoever takes gives back;
/// what `reserve` took stays counted, whoever holds the buffer. A bound is set before the first
/// batch: what a buffer holds when it grows must have been taken of the same bound. Safe from any
/// thread.
class MemoryBudget {
 public:
  MemoryBudget() = default;
  /// owner, advice: for the error: whose bound it is, and how to make what it refuses fit. pool:
  /// what `allocate` takes from; null: DeviceMemory.
  MemoryBudget(std::size_t limit_bytes, std::string owner, std::string advice,
               std::shared_ptr<MemoryPool> pool = nullptr);

  /// The same bound; its errors name `what` is refused.
  MemoryBudget named(std::string what) const;
  /// Counts `bytes` more. Errors: memory, with what is refused, the bound, and the advice.
  void take(std::size_t bytes) const;
  void give_back(std::size_t bytes) const noexcept;
  std::size_t used() const;

  /// What `reserve` takes where a buffer has to grow.
  static constexpr std::size_t grown(std::size_t size_bytes) { return size_bytes + size_bytes / 8; }
  /// Makes the buffer hold `size_bytes`, and an eighth more where it has to grow: otherwise every
  /// slightly larger batch would allocate. From the stream's pool, in its order, if it has one; of
  /// DeviceMemory, whose allocation waits for all work of the GPU, without a stream. Contents are
  /// lost. Errors: those of take(), and memory.
  void reserve(DeviceBuffer& buffer, std::size_t size_bytes, const Stream& stream) const;
  void reserve(DeviceBuffer& buffer, std::size_t size_bytes) const;

  /// Memory for a library that asks for its own: counted, and of the pool (MemoryPool::allocate).
  /// Errors: those of take(), and memory.
  void* allocate(std::size_t bytes, CUstream_st* stream) const;
  /// bytes: as allocated. See MemoryPool::release.
  void release(void* data, std::size_t bytes, CUstream_st* stream) const noexcept;

 private:
  template <typename Reserve>
  void grow(const DeviceBuffer& buffer, std::size_t size_bytes, const Reserve& reserve) const;

  struct Bound;
  std::shared_ptr<Bound> bound_;
  std::shared_ptr<MemoryPool> pool_;
  std::string what_ = "memory";
};

}  // namespace headrace::device::cuda
