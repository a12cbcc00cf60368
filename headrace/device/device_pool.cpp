#include "headrace/device/device_pool.hpp"

#include "headrace/core/error.hpp"
#include "headrace/device/device_scope.hpp"

namespace headrace::device::cuda {
namespace {

// CUDA's handle for "the default stream of the thread that passes it".
CUstream_st* per_thread_stream() { return reinterpret_cast<CUstream_st*>(0x2); }

/// Waits for all work of a GPU; a lost one has none.
void settle(int device) noexcept {
  try {
    const DeviceScope scope(device);
    wait_for_device();
  } catch (const Error&) {
  }
}

}  // namespace

void DeviceLease::hold(CUstream_st* stream) {
  read_in(stream);
  const DeviceScope scope(device);  // a null stream is one of the current GPU
  ready.hold(stream);
}

void DeviceLease::read_in(CUstream_st* stream) {
  if (stream == per_thread_stream()) {
    fail(ErrorCode::usage,
         "a batch on a GPU was taken for the per-thread default stream, which is another one on "
         "each thread, so nobody can wait for it. Use the legacy default stream or one of your "
         "own");
  }
  std::erase(consumers_, stream);
  consumers_.push_back(stream);
}

/// An event that can't be recorded means that the device, or the consumer's stream, is lost: then
/// nothing is reused before all work is done.
DeviceLease::~DeviceLease() {
  try {
    const DeviceScope scope(device);
    for (CUstream_st* consumer : consumers_) {
      used.record(consumer);
      if (consumer != consumers_.back()) used.hold(consumers_.back());
    }
    const std::lock_guard lock(pool->mutex_);
    // No consumer has used it, so it is free when it has been made.
    pool->kept_.push_back({std::move(buffer), std::move(consumers_.empty() ? ready : used)});
  } catch (const Error&) {
    settle(device);
    const std::size_t bytes = buffer.size();
    buffer = DeviceBuffer();
    pool->budget_.give_back(bytes);
  }
}

DevicePool::~DevicePool() {
  while (!kept_.empty()) {
    Kept& kept = kept_.front();
    const std::size_t bytes = kept.buffer.size();
    try {
      kept.buffer.used_until(kept.used);
    } catch (const Error&) {  // the device is lost
    }
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
  const DeviceScope scope(writer.device());  // events are of the current GPU
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
    found.buffer.reserve(bytes, writer);
  }
  found.used.hold(writer.get());
  auto lease = std::make_shared<DeviceLease>(shared_from_this(), std::move(found.buffer),
                                             std::move(found.used), writer.device());
  counted.bytes = 0;  // the lease's from here on
  return lease;
}

}  // namespace headrace::device::cuda
