#include "headrace/device/device_pool.hpp"

#include "headrace/core/error.hpp"

namespace headrace::device::cuda {

/// An event that can't be recorded means that the device is lost: then nothing is reused.
DeviceLease::~DeviceLease() {
  try {
    if (consumer) used.record(*consumer);
    const std::lock_guard lock(pool->mutex_);
    // No consumer has used it, so it is free when it has been made.
    pool->kept_.push_back({std::move(buffer), std::move(consumer ? used : ready)});
  } catch (const Error&) {
    pool->budget_.give_back(buffer.size());
  }
}

DevicePool::~DevicePool() {
  for (const Kept& kept : kept_) budget_.give_back(kept.buffer.size());
}

std::shared_ptr<DeviceLease> DevicePool::take(std::size_t bytes, Stream& writer) {
  Kept found;
  bool reused = false;
  {
    const std::lock_guard lock(mutex_);
    if (!kept_.empty()) {
      // The one that came back first: its consumer is most likely done with it.
      found = std::move(kept_.front());
      kept_.pop_front();
      reused = true;
    }
  }
  if (!reused) {
    budget_.take(bytes);
    try {
      found.buffer.reserve(bytes);
    } catch (...) {
      budget_.give_back(bytes);
      throw;
    }
  }
  found.used.hold(writer.get());
  return std::make_shared<DeviceLease>(shared_from_this(), std::move(found.buffer),
                                       std::move(found.used));
}

}  // namespace headrace::device::cuda
