#include "headrace/process/accelerator.hpp"

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::process {

std::unique_ptr<Accelerator> open_cuda_accelerator(storage::GpuDirect) {
  fail(ErrorCode::unsupported, "--device cuda: {}; --device cpu gives the same bytes",
       device::cuda::describe());
}

}  // namespace headrace::process
