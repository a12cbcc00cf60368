#include "headrace/loader/device_pool.hpp"

#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::loader::detail {
namespace {

constexpr double kMib = 1 << 20;

}  // namespace

void DeviceBudget::take(std::size_t bytes, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - used_) {
    fail(
        ErrorCode::memory,
        "{} of {:.0f} MiB do not fit: the loader may take {:.0f} MiB of the GPU and has taken "
        "{:.0f}. Raise loader.device_memory_mib, or lower loader.prefetch, the batch or patch.size",
        what, static_cast<double>(bytes) / kMib, static_cast<double>(limit_) / kMib,
        static_cast<double>(used_) / kMib);
  }
  used_ += bytes;
}

void DeviceBudget::give_back(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

std::size_t DeviceBudget::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

/// An event that can't be recorded means that the device is lost: then nothing is reused.
DeviceLease::~DeviceLease() {
  try {
    if (consumer) used.record(*consumer);
    const std::lock_guard lock(pool->mutex_);
    // No consumer has used it, so it is free when it has been made.
    pool->kept_.push_back({std::move(buffer), std::move(consumer ? used : ready)});
  } catch (const Error&) {
    pool->budget_->give_back(buffer.size());
  }
}

std::shared_ptr<DeviceLease> DevicePool::take(std::size_t bytes, device::cuda::Stream& writer) {
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
    budget_->take(bytes, "batches");
    found.buffer.reserve(bytes);
  }
  found.used.hold(writer.get());
  return std::make_shared<DeviceLease>(shared_from_this(), std::move(found.buffer),
                                       std::move(found.used));
}

}  // namespace headrace::loader::detail
