#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/device.hpp"
#include "headrace/device/device_scope.hpp"

namespace headrace::device::cuda {

/// A stream as a Queue, or as a layer's queue derived from it (`Base`), whose passes the layer adds
/// over `stream_`.
template <std::derived_from<Queue> Base>
class CudaQueueOf : public Base {
 public:
  ~CudaQueueOf() override { finish(); }
  void to_device(std::uint8_t* device, std::int64_t device_pitch, const std::uint8_t* host,
                 std::int64_t host_pitch, std::int64_t row_bytes, std::int64_t rows) override {
    copy_rows(device, device_pitch, host, host_pitch, row_bytes, rows, stream_);
  }
  void to_host(std::uint8_t* host, std::int64_t host_pitch, const std::uint8_t* device,
               std::int64_t device_pitch, std::int64_t row_bytes, std::int64_t rows) override {
    copy_rows(host, host_pitch, device, device_pitch, row_bytes, rows, stream_);
  }
  void clear(std::uint8_t* device, std::int64_t bytes) override {
    cuda::clear(device, static_cast<std::size_t>(bytes), stream_);
  }
  void wait() override { stream_.wait(); }

 protected:
  /// Waits for all work. A derived queue whose members the work uses calls it in its destructor.
  void finish() noexcept {
    try {
      stream_.wait();
    } catch (const Error&) {  // the cause has been reported already
    }
  }

  Stream stream_;
};

/// The CUDA device that is current when it is made, as a Device, or as a layer's class derived from
/// it, which adds queue(). Callers' threads may have other current devices.
template <std::derived_from<Device> Base>
class CudaDeviceOf : public Base {
 public:
  std::string name() const override {
    const DeviceScope scope = here();
    return describe();
  }
  std::size_t free_bytes() const override {
    const DeviceScope scope = here();
    return cuda::free_bytes();
  }
  Memory device_memory(std::size_t size_bytes) override {
    const DeviceScope scope = here();
    return shared<DeviceBuffer>(size_bytes);
  }
  Memory host_memory(std::size_t size_bytes) override {
    const DeviceScope scope = here();
    return shared<PinnedBuffer>(size_bytes);
  }

 protected:
  /// For the making of a queue, whose stream is of the current device.
  DeviceScope here() const { return DeviceScope(device_); }

 private:
  const int device_ = current_device();

  template <typename Buffer>
  static Memory shared(std::size_t size_bytes) {
    auto buffer = std::make_shared<Buffer>(size_bytes);
    return {buffer, buffer->template as<std::uint8_t>()};
  }
};

}  // namespace headrace::device::cuda
