#include "headrace/process/accelerator.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::process {

std::unique_ptr<Accelerator> open_cuda_accelerator(storage::GpuDirect) {
  fail(ErrorCode::unsupported, "{} cuda: {}; {} cpu gives the same bytes", Option{"device"},
       device::cuda::describe(), Option{"device"});
}

}  // namespace headrace::process
