#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "headrace/device/cuda_device.hpp"
#include "headrace/device/memory_budget.hpp"

namespace headrace::device::cuda {

class DevicePool;

/// Memory of a GPU on loan, which one stream writes and another reads. Goes back to its pool when
/// destroyed, whether or not their work is done. One thread at a time.
struct DeviceLease {
  DeviceLease(std::shared_ptr<DevicePool> from, DeviceBuffer memory, Event after)
      : pool(std::move(from)), buffer(std::move(memory)), used(std::move(after)) {}
  ~DeviceLease();
  DeviceLease(const DeviceLease&) = delete;
  DeviceLease& operator=(const DeviceLease&) = delete;
  /// Work that is put into `stream` from now on begins when the contents are ready. The memory is
  /// written again when the work is done that the stream has when the lease ends.
  void hold(CUstream_st* stream) {
    ready.hold(stream);
    consumer = stream;
  }

  std::shared_ptr<DevicePool> pool;
  DeviceBuffer buffer;
  Event used;                            ///< after the last consumer's work with it
  Event ready;                           ///< after the work that makes the contents
  std::optional<CUstream_st*> consumer;  ///< null is a stream too: the default one
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
  /// of a pool is as large as the first. Errors: memory, device.
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
