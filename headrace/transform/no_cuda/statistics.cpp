#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/statistics/device.hpp"

namespace headrace::transform {

std::unique_ptr<StatisticsDevice> open_cuda_statistics() {
  fail(ErrorCode::unsupported, "--device cuda: {}; --device cpu gives the same bytes",
       device::cuda::describe());
}

}  // namespace headrace::transform
