#include "headrace/loader/device_lane.hpp"

#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::loader::detail {

DeviceLane::DeviceLane(const Recipe& recipe, std::shared_ptr<DeviceBudget> budget,
                       std::shared_ptr<DevicePool> pool)
    : recipe_(recipe), budget_(std::move(budget)), pool_(std::move(pool)) {}

DeviceLane::~DeviceLane() {
  try {
    stream_.wait();
  } catch (const Error&) {
    // The device is lost, and with it what was under way.
  }
}

std::byte* DeviceLane::arena(std::size_t bytes) {
  if (std::exchange(under_way_, false)) {
    done_.wait();
    times_.copy_s += begun_.seconds_to(copied_);
    times_.transform_s += copied_.seconds_to(done_);
  }
  bytes_ = bytes;
  if (bytes > windows_.size()) {
    const std::size_t grown = bytes + bytes / 8;  // every slightly larger batch would allocate
    budget_->take(grown - windows_.size(), "windows of a batch");
    windows_.reserve(grown);
    staged_.reserve(grown);
  }
  return staged_.as<std::byte>();
}

void DeviceLane::start(const BatchWork& work) {
  lease_ = pool_->take(recipe_.batch_bytes(), stream_);
  begun_.record(stream_);
  if (bytes_ > 0)
    device::cuda::copy_to_device(windows_.as<std::byte>(), staged_.as<std::byte>(), bytes_,
                                 stream_);
  copied_.record(stream_);
  auto* images = lease_->buffer.as<std::byte>();
  work.launch({windows_.as<std::byte>(), images,
               recipe_.with_labels ? reinterpret_cast<std::uint8_t*>(images) + recipe_.labels_at()
                                   : nullptr,
               scratch_, volume_scratch_, stream_});
  done_.record(stream_);
  lease_->ready.record(stream_);
  under_way_ = true;
  count_scratch();
}

/// The transform's memory grows with the largest batch and is counted when it has.
void DeviceLane::count_scratch() {
  const std::size_t bytes = scratch_.device_bytes() + volume_scratch_.device_bytes();
  if (bytes <= scratch_bytes_) return;
  budget_->take(bytes - std::exchange(scratch_bytes_, bytes), "the transform's working memory");
}

void DeviceLane::hand_over(Batch& batch) {
  auto* images = lease_->buffer.as<std::byte>();
  batch.images = images;
  if (recipe_.with_labels)
    batch.labels = reinterpret_cast<std::uint8_t*>(images) + recipe_.labels_at();
  batch.device = recipe_.device_index;
  batch.lease = std::move(lease_);
}

DeviceLane::Times DeviceLane::take_times() { return std::exchange(times_, {}); }

}  // namespace headrace::loader::detail
