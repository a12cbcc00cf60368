#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "headrace/device/cuda_device.hpp"

namespace headrace::loader::detail {

/// The bound on a loader's memory on a GPU. Safe from any thread.
class DeviceBudget {
 public:
  explicit DeviceBudget(std::size_t limit_bytes) : limit_(limit_bytes) {}

  /// Counts `bytes` more; call it before they are taken. Errors: memory, naming `what` and how to
  /// make it fit.
  void take(std::size_t bytes, const std::string& what);
  void give_back(std::size_t bytes) noexcept;
  std::size_t limit() const noexcept { return limit_; }
  std::size_t used() const;

 private:
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::size_t used_ = 0;
};

class DevicePool;

/// Memory of one batch on the GPU. Goes back to its pool when destroyed.
struct DeviceLease {
  DeviceLease(std::shared_ptr<DevicePool> from, device::cuda::DeviceBuffer memory,
              device::cuda::Event after)
      : pool(std::move(from)), buffer(std::move(memory)), used(std::move(after)) {}
  ~DeviceLease();
  DeviceLease(const DeviceLease&) = delete;
  DeviceLease& operator=(const DeviceLease&) = delete;
  void hold(CUstream_st* stream) {
    ready.hold(stream);
    consumer = stream;
  }

  std::shared_ptr<DevicePool> pool;
  device::cuda::DeviceBuffer buffer;
  device::cuda::Event used;              ///< after the last consumer's work with it
  device::cuda::Event ready;             ///< after the work that makes the batch
  std::optional<CUstream_st*> consumer;  ///< null is a stream too: the default one
};

/// Batches' memory on the GPU, taken and given back in the order of streams, so no thread waits.
/// Safe from any thread.
class DevicePool : public std::enable_shared_from_this<DevicePool> {
 public:
  explicit DevicePool(std::shared_ptr<DeviceBudget> budget) : budget_(std::move(budget)) {}

  /// `writer`: the stream that will write it; it waits until the last consumer is done. Every lease
  /// of a pool is as large as the first. Errors: memory, device.
  std::shared_ptr<DeviceLease> take(std::size_t bytes, device::cuda::Stream& writer);

 private:
  friend struct DeviceLease;
  struct Kept {
    device::cuda::DeviceBuffer buffer;
    device::cuda::Event used;
  };
  std::shared_ptr<DeviceBudget> budget_;
  std::mutex mutex_;
  std::deque<Kept> kept_;
};

}  // namespace headrace::loader::detail
