#pragma once
#include <array>
#include <cstddef>

#include "headrace/device/cuda_device.hpp"

namespace headrace::device::cuda {

/// Data that the kernels of one batch read, collected in pinned memory and sent to the GPU in one
/// copy: `begin`, `room` for each array, `fix`, then fill them by `host`, `send`, launch what reads
/// them at `device`, and `sent_and_read`, all with one stream. One thread at a time. Errors:
/// memory, device.
class StagingBuffer {
 public:
  /// Waits until the GPU has read the previous contents.
  void begin() {
    used_.wait();
    size_ = 0;
  }
  /// Makes room for `count` of T; gives its offset. Nothing is written before `fix`.
  template <typename T>
  std::size_t room(std::size_t count) {
    constexpr std::size_t kAlign = 64;
    const std::size_t at = (size_ + kAlign - 1) / kAlign * kAlign;
    size_ = at + count * sizeof(T);
    return at;
  }
  /// Takes the memory of all rooms: on the device, for `stream`.
  void fix(const Stream& stream) {
    staged_.reserve(size_);
    on_device_.reserve(staged_.size(), stream);
  }
  template <typename T>
  T* host(std::size_t at) const {
    return reinterpret_cast<T*>(staged_.as<std::byte>() + at);
  }
  template <typename T>
  T* device(std::size_t at) const {
    return reinterpret_cast<T*>(on_device_.as<std::byte>() + at);
  }
  void send(Stream& stream) {
    copy_to_device(on_device_.as<std::byte>(), staged_.as<std::byte>(), size_, stream);
  }
  std::size_t device_bytes() const noexcept { return on_device_.size(); }
  /// After the launches: the next begin() waits for them.
  void sent_and_read(Stream& stream) { used_.record(stream); }

 private:
  PinnedBuffer staged_;
  DeviceBuffer on_device_;
  Event used_;
  std::size_t size_ = 0;
};

/// Staging buffers of several batches in flight in one stream. One thread at a time.
class StagingRing {
 public:
  StagingBuffer& take() {
    StagingBuffer& staging = buffers_[next_++ % buffers_.size()];
    staging.begin();
    return staging;
  }
  std::size_t device_bytes() const noexcept {
    std::size_t sum = 0;
    for (const StagingBuffer& staging : buffers_) sum += staging.device_bytes();
    return sum;
  }

 private:
  std::array<StagingBuffer, 4> buffers_;
  std::size_t next_ = 0;
};

}  // namespace headrace::device::cuda
