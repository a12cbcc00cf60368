#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "headrace/device/cuda_device.hpp"
#include "headrace/device/memory_budget.hpp"

namespace headrace::device::cuda {

class DevicePool;

/// Memory of a GPU on loan, which one stream writes and another reads. Goes back to its pool when
/// destroyed, whether or not their work is done. One thread at a time; any thread, whatever its
/// current GPU.
struct DeviceLease {
  DeviceLease(std::shared_ptr<DevicePool> from, DeviceBuffer memory, Event after, int of_device)
      : pool(std::move(from)),
        buffer(std::move(memory)),
        used(std::move(after)),
        device(of_device) {}
  ~DeviceLease();
  DeviceLease(const DeviceLease&) = delete;
  DeviceLease& operator=(const DeviceLease&) = delete;
  /// Work that is put into `stream`, of the lease's GPU, from now on begins when the contents are
  /// ready. The memory is written again when the work is done that the stream has when the lease
  /// ends; of several streams, that of all (the last one then waits for the others). Errors: usage
  /// (a per-thread default stream), device.
  void hold(CUstream_st* stream);
  /// Of these, the second alone.
  void read_in(CUstream_st* stream);

  std::shared_ptr<DevicePool> pool;
  DeviceBuffer buffer;
  Event used;        ///< after the last consumer's work with it
  const int device;  ///< the GPU of memory, events and streams
  Event ready;       ///< after the work that makes the contents

 private:
  std::vector<CUstream_st*> consumers_;  ///< null is a stream too: the GPU's default one
};

/// Memory of a GPU, taken and given back in the order of streams, so no thread waits. Safe from any
/// thread.
class DevicePool : public std::enable_shared_from_this<DevicePool> {
 public:
  explicit DevicePool(MemoryBudget budget) : budget_(std::move(budget)) {}
  ~DevicePool();
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  /// `writer`: the stream that will write it; it waits until the last consumer is done. Every lease
  /// of a pool is as large as the first, and of the same GPU. Errors: memory, device.
  std::shared_ptr<DeviceLease> take(std::size_t bytes, Stream& writer);

 private:
  friend struct DeviceLease;
  struct Kept {
    DeviceBuffer buffer;
    Event used;
  };
  const MemoryBudget budget_;
  std::mutex mutex_;
  std::deque<Kept> kept_;
};

}  // namespace headrace::device::cuda
