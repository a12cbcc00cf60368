#pragma once
#include <memory>
#include <optional>

#include "headrace/loader/batch_work.hpp"
#include "headrace/loader/device_pool.hpp"

namespace headrace::loader::detail {

/// What a place of the ring has on the GPU: a stream, pinned memory that the workers decode into,
/// its copy on the device, and what the transform works in. One batch after the other.
class DeviceLane {
 public:
  DeviceLane(const Recipe& recipe, std::shared_ptr<DeviceBudget> budget,
             std::shared_ptr<DevicePool> pool);
  ~DeviceLane();

  /// Pinned memory for the windows of the next batch. Waits until the GPU has made the batch
  /// before.
  std::byte* arena(std::size_t bytes);
  /// Puts the copy and the transform into the stream: returns before they are done.
  void start(const BatchWork& work);
  /// Makes `batch`, which `work` has described, the one that was started.
  void hand_over(Batch& batch);

  /// Seconds of the batches that the GPU has made, since the last call.
  struct Times {
    double copy_s = 0, transform_s = 0;
  };
  Times take_times();

 private:
  void count_scratch();

  const Recipe& recipe_;
  std::shared_ptr<DeviceBudget> budget_;
  std::shared_ptr<DevicePool> pool_;
  device::cuda::PinnedBuffer staged_;
  device::cuda::DeviceBuffer windows_;
  std::size_t bytes_ = 0, scratch_bytes_ = 0;
  transform::CudaScratch scratch_;
  transform::VolumeCudaScratch volume_scratch_;
  device::cuda::Event begun_{true}, copied_{true}, done_{true};
  bool under_way_ = false;
  Times times_;
  std::shared_ptr<DeviceLease> lease_;
  device::cuda::Stream stream_;
};

}  // namespace headrace::loader::detail
