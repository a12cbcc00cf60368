#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "headrace/device/device.hpp"

namespace headrace::device {

/// A queue of a device and the memory that its work uses: numbered areas of the device, and one
/// area of the host that the device copies from and to. Areas grow as needed and are reused; the
/// contents of one that grows are lost. One thread at a time.
template <typename Work>
class Workspace {
 public:
  /// device: must outlive this. Errors: device.
  explicit Workspace(DeviceOf<Work>& device) : device_(&device), queue_(device.queue()) {}
  Workspace(Workspace&&) noexcept = default;
  /// It would free the memory before the queue that uses it has waited.
  Workspace& operator=(Workspace&&) = delete;

  Work& queue() const noexcept { return *queue_; }
  /// An area of the device, of at least `bytes`. Errors: memory.
  std::uint8_t* on_device(std::size_t area, std::size_t bytes) {
    if (area >= areas_.size()) areas_.resize(area + 1);
    return room(areas_[area], bytes, &Device::device_memory);
  }
  /// The area of the host, of at least `bytes`. Errors: memory.
  std::uint8_t* on_host(std::size_t bytes) { return room(host_, bytes, &Device::host_memory); }
  /// Makes `memory` an area of the device, as a part of memory that several workspaces share.
  void set_area(std::size_t area, Memory memory, std::size_t bytes) {
    if (area >= areas_.size()) areas_.resize(area + 1);
    areas_[area] = {std::move(memory), bytes};
  }

 private:
  struct Area {
    Memory memory;
    std::size_t bytes = 0;
  };
  std::uint8_t* room(Area& area, std::size_t bytes, Memory (Device::*make)(std::size_t)) {
    if (bytes > area.bytes) {
      queue_->wait();  // for work that uses the old memory
      area = {};
      area = {(device_->*make)(bytes), bytes};
    }
    return area.memory.get();
  }

  Device* device_;
  std::vector<Area> areas_;
  Area host_;
  std::unique_ptr<Work> queue_;  ///< destroyed first: it waits for work that uses the memory
};

}  // namespace headrace::device
