#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::pixels {

/// A queue of a device and the memory that its work uses: numbered areas of the device, and one
/// area of the host that the device copies from and to. Areas grow as needed and are reused; the
/// contents of one that grows are lost. One thread at a time.
template <typename Queue>
class QueueWorkspace {
 public:
  /// device: must outlive this.
  QueueWorkspace(StatisticsDevice& device, std::unique_ptr<Queue> queue)
      : device_(&device), queue_(std::move(queue)) {}
  QueueWorkspace(QueueWorkspace&&) noexcept = default;
  /// It would free the memory before the queue that uses it has waited.
  QueueWorkspace& operator=(QueueWorkspace&&) = delete;

  Queue& queue() const noexcept { return *queue_; }
  /// An area of the device, of at least `bytes`. Errors: memory.
  std::uint8_t* on_device(std::size_t area, std::size_t bytes) {
    if (area >= areas_.size()) areas_.resize(area + 1);
    return room(areas_[area], bytes, &StatisticsDevice::device_memory);
  }
  /// The area of the host, of at least `bytes`. Errors: memory.
  std::uint8_t* on_host(std::size_t bytes) {
    return room(host_, bytes, &StatisticsDevice::host_memory);
  }
  /// Makes `memory` an area of the device, as a part of memory that several workspaces share.
  void set_area(std::size_t area, DeviceMemory memory, std::size_t bytes) {
    if (area >= areas_.size()) areas_.resize(area + 1);
    areas_[area] = {std::move(memory), bytes};
  }

 private:
  struct Area {
    DeviceMemory memory;
    std::size_t bytes = 0;
  };
  std::uint8_t* room(Area& area, std::size_t bytes,
                     DeviceMemory (StatisticsDevice::*make)(std::size_t)) {
    if (bytes > area.bytes) {
      queue_->wait();  // for work that uses the old memory
      area = {};
      area = {(device_->*make)(bytes), bytes};
    }
    return area.memory.get();
  }

  StatisticsDevice* device_;
  std::vector<Area> areas_;
  Area host_;
  std::unique_ptr<Queue> queue_;  ///< destroyed first: it waits for work that uses the memory
};

}  // namespace headrace::pixels
