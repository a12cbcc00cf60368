#pragma once
#include <cstddef>
#include <cstdint>

#include "headrace/device/workspace.hpp"

namespace headrace::device {

/// The area of the host that a StagedWorkspace copies through.
inline constexpr std::int64_t kStagingBytes = std::int64_t{8} << 20;

/// Copies through `staging`, kStagingBytes of memory that the device can copy from and to: to the
/// device, after what is in the queue; returns when `from` is free.
void send_staged(Queue& queue, std::uint8_t* staging, std::uint8_t* there, const std::uint8_t* from,
                 std::int64_t bytes);
/// Back to the host: waits for all that is in the queue first.
void fetch_staged(Queue& queue, std::uint8_t* staging, std::uint8_t* to, const std::uint8_t* there,
                  std::int64_t bytes);

/// A workspace whose copies go through its own pinned area of the host, so that callers need no
/// pinned memory. One thread at a time.
template <typename Work>
class StagedWorkspace {
 public:
  /// device: must outlive this. Errors: memory, device.
  explicit StagedWorkspace(DeviceOf<Work>& device) : workspace_(device) { staging(); }

  /// Area `index` of the device, for `count` elements. Its contents are lost when it grows.
  /// Errors: memory.
  template <typename T>
  T* area(std::size_t index, std::int64_t count) {
    return reinterpret_cast<T*>(
        workspace_.on_device(index, static_cast<std::size_t>(count) * sizeof(T)));
  }
  template <typename T>
  T* cleared(std::size_t index, std::int64_t count) {
    T* there = area<T>(index, count);
    queue().clear(reinterpret_cast<std::uint8_t*>(there), bytes_of<T>(count));
    return there;
  }

  /// Copies to an area of the device, after what is in the queue; returns when `from` is free.
  template <typename T>
  void send(T* there, const T* from, std::int64_t count) {
    send_staged(queue(), staging(), reinterpret_cast<std::uint8_t*>(there),
                reinterpret_cast<const std::uint8_t*>(from), bytes_of<T>(count));
  }
  /// Waits for all that is in the queue and copies its results.
  template <typename T>
  void fetch(T* to, const T* there, std::int64_t count) {
    fetch_staged(queue(), staging(), reinterpret_cast<std::uint8_t*>(to),
                 reinterpret_cast<const std::uint8_t*>(there), bytes_of<T>(count));
  }

 protected:
  Work& queue() const noexcept { return workspace_.queue(); }

 private:
  template <typename T>
  static std::int64_t bytes_of(std::int64_t count) {
    return count * static_cast<std::int64_t>(sizeof(T));
  }
  std::uint8_t* staging() { return workspace_.on_host(static_cast<std::size_t>(kStagingBytes)); }

  Workspace<Work> workspace_;
};

}  // namespace headrace::device
