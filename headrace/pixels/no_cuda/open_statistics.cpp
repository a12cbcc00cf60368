#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::pixels {

std::unique_ptr<StatisticsDevice> open_cuda_statistics() {
  fail(ErrorCode::unsupported, "{} cuda: {}; {} cpu gives the same bytes", Option{"device"},
       device::cuda::describe(), Option{"device"});
}

}  // namespace headrace::pixels
