#include "headrace/process/accelerator.hpp"

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/process/cuda/passes.hpp"

namespace headrace::process {
namespace {

class CudaQueue : public Queue {
 public:
  ~CudaQueue() override {
    try {
      stream_.wait();
    } catch (const Error&) {  // what stopped it has been reported
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
  void run(const TileKernel& kernel, float* sums) override { cuda::run(kernel, sums, stream_); }
  void wait() override { stream_.wait(); }

 private:
  device::cuda::Stream stream_;
};

template <typename Buffer>
SharedMemory shared(std::size_t size_bytes) {
  auto buffer = std::make_shared<Buffer>(size_bytes);
  return {buffer, buffer->template as<std::uint8_t>()};
}

class CudaAccelerator : public Accelerator {
 public:
  std::string name() const override { return device::cuda::describe(); }
  std::size_t free_bytes() const override { return device::cuda::free_bytes(); }
  SharedMemory device_memory(std::size_t size_bytes) override {
    return shared<device::cuda::DeviceBuffer>(size_bytes);
  }
  SharedMemory host_memory(std::size_t size_bytes) override {
    return shared<device::cuda::PinnedBuffer>(size_bytes);
  }
  std::unique_ptr<Queue> queue() override { return std::make_unique<CudaQueue>(); }
};

}  // namespace

std::unique_ptr<Accelerator> open_cuda_accelerator() {
  if (!device::cuda::cuda_available()) {
    fail(ErrorCode::unsupported, "--device cuda: {}", device::cuda::describe());
  }
  return std::make_unique<CudaAccelerator>();
}

}  // namespace headrace::process
