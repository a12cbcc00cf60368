#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/pixels/cuda/statistics_passes.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::pixels::cuda {

/// A stream as a StatisticsQueue, or as a higher layer's class derived from it (`Base`).
template <typename Base>
class CudaQueueOf : public Base {
 public:
  ~CudaQueueOf() override {
    try {
      stream_.wait();
    } catch (const Error&) {  // the cause has been reported already
    }
  }
  void to_device(std::uint8_t* device, std::int64_t device_pitch, const std::uint8_t* host,
                 std::int64_t host_pitch, std::int64_t row_bytes, std::int64_t rows) override {
    device::cuda::copy_rows(device, device_pitch, host, host_pitch, row_bytes, rows, stream_);
  }
  void to_host(std::uint8_t* host, std::int64_t host_pitch, const std::uint8_t* device,
               std::int64_t device_pitch, std::int64_t row_bytes, std::int64_t rows) override {
    device::cuda::copy_rows(host, host_pitch, device, device_pitch, row_bytes, rows, stream_);
  }
  void clear(std::uint8_t* device, std::int64_t bytes) override {
    device::cuda::clear(device, static_cast<std::size_t>(bytes), stream_);
  }
  void gather(const StatisticsPass& pass) override { cuda::gather(pass, stream_); }
  void wait() override { stream_.wait(); }

 protected:
  device::cuda::Stream stream_;
};

/// The current CUDA device as a StatisticsDevice, or as a higher layer's class derived from it.
template <typename Base>
class CudaDeviceOf : public Base {
 public:
  std::string name() const override { return device::cuda::describe(); }
  std::size_t free_bytes() const override { return device::cuda::free_bytes(); }
  DeviceMemory device_memory(std::size_t size_bytes) override {
    return shared<device::cuda::DeviceBuffer>(size_bytes);
  }
  DeviceMemory host_memory(std::size_t size_bytes) override {
    return shared<device::cuda::PinnedBuffer>(size_bytes);
  }

 private:
  template <typename Buffer>
  static DeviceMemory shared(std::size_t size_bytes) {
    auto buffer = std::make_shared<Buffer>(size_bytes);
    return {buffer, buffer->template as<std::uint8_t>()};
  }
};

}  // namespace headrace::pixels::cuda
