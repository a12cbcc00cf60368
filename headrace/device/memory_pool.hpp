#pragma once
#include <cstddef>

#include "headrace/device/cuda_device.hpp"

struct CUmemPoolHandle_st;  // CUDA's own name: no header of CUDA is needed here

namespace headrace::device::cuda {

/// Memory of one GPU that is taken from its driver once and given out in the order of streams, so
/// that neither allocation nor release waits for work of the GPU, as cudaMalloc and cudaFree do.
/// What comes back stays in the pool until the pool is destroyed and all of it has come back. Safe
/// from any thread, whatever its current GPU.
///
/// Where the GPU or its driver has no such pools, memory is DeviceMemory, which waits.
class MemoryPool {
 public:
  /// Errors: device.
  explicit MemoryPool(int device);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  int device() const noexcept { return device_; }
  /// False where allocations wait.
  bool ordered() const noexcept { return handle_ != nullptr; }

  /// Takes `bytes` from the driver in one piece, for the allocations to come; without pools finds
  /// out whether they are there. Errors: memory, after memory_relief.hpp's.
  void reserve(std::size_t bytes);
  /// Memory for work that is put into `stream`, of the pool's GPU, from now on, with
  /// HostBuffer::kTailPadding readable bytes after its size; with a null stream, for any work.
  /// Errors: as for reserve.
  void* allocate(std::size_t bytes, CUstream_st* stream);
  /// Its memory is free when the work is done that was put into `stream` so far. With a null stream
  /// this waits for all work of the GPU. Null data: nothing.
  void release(void* data, CUstream_st* stream) noexcept;

 private:
  const int device_;
  CUmemPoolHandle_st* handle_;
  Stream own_;
};

/// The driver's side of a pool: cuda/, and the stand-in of tests, each have theirs.
struct OrderedMemory {
  /// Null where `device` has no pools.
  static CUmemPoolHandle_st* create(int device);
  static void destroy(CUmemPoolHandle_st* pool) noexcept;
  static void* allocate(CUmemPoolHandle_st* pool, std::size_t bytes, CUstream_st* stream);
  static void release(CUmemPoolHandle_st* pool, void* data, CUstream_st* stream) noexcept;
};

}  // namespace headrace::device::cuda
