#include "headrace/device/cuda_queue.hpp"
#include "headrace/pixels/cuda/statistics_passes.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::pixels {
namespace {

class CudaStatisticsQueue : public device::cuda::CudaQueueOf<StatisticsQueue> {
 public:
  void gather(const StatisticsPass& pass) override { cuda::gather(pass, stream_); }
};

class CudaStatistics : public device::cuda::CudaDeviceOf<StatisticsDevice> {
 public:
  std::unique_ptr<StatisticsQueue> queue() override {
    const device::cuda::DeviceScope scope = here();
    return std::make_unique<CudaStatisticsQueue>();
  }
};

}  // namespace

std::unique_ptr<StatisticsDevice> open_cuda_statistics() {
  if (!device::cuda::cuda_available()) device::cuda::refuse_cuda();
  return std::make_unique<CudaStatistics>();
}

}  // namespace headrace::pixels
