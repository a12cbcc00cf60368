#include "headrace/core/option_name.hpp"
#include "headrace/pixels/cuda/cuda_statistics.hpp"

namespace headrace::pixels {
namespace {

class CudaStatistics : public cuda::CudaDeviceOf<StatisticsDevice> {
 public:
  std::unique_ptr<StatisticsQueue> statistics_queue() override {
    return std::make_unique<cuda::CudaQueueOf<StatisticsQueue>>();
  }
};

}  // namespace

std::unique_ptr<StatisticsDevice> open_cuda_statistics() {
  if (!device::cuda::cuda_available()) {
    fail(ErrorCode::unsupported, "{} cuda: {}; {} cpu gives the same bytes", Option{"device"},
         device::cuda::describe(), Option{"device"});
  }
  return std::make_unique<CudaStatistics>();
}

}  // namespace headrace::pixels
