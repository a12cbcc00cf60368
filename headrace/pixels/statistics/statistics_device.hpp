#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/pixels/statistics/statistics_pass.hpp"

namespace headrace::pixels {

/// Memory of a device, or host memory that the device can copy from and to; released with its last
/// holder. Contents are undefined until written.
using DeviceMemory = std::shared_ptr<std::uint8_t>;

/// Work of a device, done in the order in which it is put in. All functions but wait() return
/// before the work is done; host memory must not change until then. One thread at a time. The
/// destructor waits. Errors: device, at once or at the next wait().
class StatisticsQueue {
 public:
  virtual ~StatisticsQueue() = default;
  /// Copies rows of `row_bytes`, which lie `*_pitch` bytes apart.
  virtual void to_device(std::uint8_t* device, std::int64_t device_pitch, const std::uint8_t* host,
                         std::int64_t host_pitch, std::int64_t row_bytes, std::int64_t rows) = 0;
  virtual void to_host(std::uint8_t* host, std::int64_t host_pitch, const std::uint8_t* device,
                       std::int64_t device_pitch, std::int64_t row_bytes, std::int64_t rows) = 0;
  /// Sets memory of the device to 0.
  virtual void clear(std::uint8_t* device, std::int64_t bytes) = 0;
  /// Every pointer of the pass is device memory.
  virtual void gather(const StatisticsPass& pass) = 0;
  virtual void wait() = 0;
};

/// A device that gathers statistics in its own memory, with the CPU's result to the last bit. Safe
/// from any thread.
class StatisticsDevice {
 public:
  virtual ~StatisticsDevice() = default;
  virtual std::string name() const = 0;
  virtual std::size_t free_bytes() const = 0;  ///< of its memory
  /// Errors: memory.
  virtual DeviceMemory device_memory(std::size_t size_bytes) = 0;
  virtual DeviceMemory host_memory(std::size_t size_bytes) = 0;
  virtual std::unique_ptr<StatisticsQueue> statistics_queue() = 0;
};

/// The current CUDA device. Errors: unsupported (no GPU, no driver, or a build without CUDA; names
/// which).
std::unique_ptr<StatisticsDevice> open_cuda_statistics();

}  // namespace headrace::pixels
