#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::pixels {

std::unique_ptr<StatisticsDevice> open_cuda_statistics() {
  fail(ErrorCode::unsupported, "--device cuda: {}; --device cpu gives the same bytes",
       device::cuda::describe());
}

}  // namespace headrace::pixels
