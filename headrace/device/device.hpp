#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

/// A device and its work as an interface, so that one program serves a GPU and, in tests, the host
/// in its place. A layer derives its own queue, which has the passes that it runs there;
/// cuda_queue.hpp makes CUDA's of any.
namespace headrace::device {

/// Memory of a device, or host memory that the device can copy from and to; released with its last
/// holder. Contents are undefined until written.
using Memory = std::shared_ptr<std::uint8_t>;

/// Work of a device, done in the order in which it is put in. All functions but wait() return
/// before the work is done; host memory must not change until then. One thread at a time. The
/// destructor waits. Errors: device, at once or at the next wait().
class Queue {
 public:
  virtual ~Queue() = default;
  /// Copies rows of `row_bytes`, which lie `*_pitch` bytes apart.
  virtual void to_device(std::uint8_t* device, std::int64_t device_pitch, const std::uint8_t* host,
                         std::int64_t host_pitch, std::int64_t row_bytes, std::int64_t rows) = 0;
  virtual void to_host(std::uint8_t* host, std::int64_t host_pitch, const std::uint8_t* device,
                       std::int64_t device_pitch, std::int64_t row_bytes, std::int64_t rows) = 0;
  /// Sets memory of the device to 0.
  virtual void clear(std::uint8_t* device, std::int64_t bytes) = 0;
  virtual void wait() = 0;
};

/// A device and its memory. Safe from any thread.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  virtual std::size_t free_bytes() const = 0;  ///< of its memory
  /// Errors: memory.
  virtual Memory device_memory(std::size_t size_bytes) = 0;
  virtual Memory host_memory(std::size_t size_bytes) = 0;
};

/// A device whose queues do the work of `Work`, a Queue with a layer's passes.
template <typename Work>
class DeviceOf : public Device {
 public:
  /// Errors: device.
  virtual std::unique_ptr<Work> queue() = 0;
};

}  // namespace headrace::device
