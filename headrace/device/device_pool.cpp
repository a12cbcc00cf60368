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
    const std::size_t bytes = buffer.size();
    buffer = DeviceBuffer();
    pool->budget_.give_back(bytes);
  }
}

DevicePool::~DevicePool() {
  while (!kept_.empty()) {
    const std::size_t bytes = kept_.front().buffer.size();
    kept_.pop_front();
    budget_.give_back(bytes);
  }
}

namespace {

/// Gives bytes back at its end, unless they have been made 0.
struct Counted {
  const MemoryBudget& budget;
  std::size_t bytes = 0;
  ~Counted() { budget.give_back(bytes); }
};

}  // namespace

std::shared_ptr<DeviceLease> DevicePool::take(std::size_t bytes, Stream& writer) {
  Counted counted{budget_};  // before the buffer, so that memory goes before its bytes do
  Kept found;
  bool reused = false;
  {
    const std::lock_guard lock(mutex_);
    if (!kept_.empty()) {
      // The one that came back first: its consumer is most likely done with it.
      found = std::move(kept_.front());
      kept_.pop_front();
      counted.bytes = found.buffer.size();
      reused = true;
    }
  }
  if (!reused) {
    budget_.take(bytes);
    counted.bytes = bytes;
    found.buffer.reserve(bytes);
  }
  found.used.hold(writer.get());
  auto lease = std::make_shared<DeviceLease>(shared_from_this(), std::move(found.buffer),
                                             std::move(found.used));
  counted.bytes = 0;  // the lease's from here on
  return lease;
}

}  // namespace headrace::device::cuda
