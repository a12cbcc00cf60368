#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::device::cuda {

void refuse_cuda() {
  fail(ErrorCode::unsupported, "{} cuda: {}; {} cpu gives the same bytes", Option{"device"},
       describe(), Option{"device"});
}

}  // namespace headrace::device::cuda
