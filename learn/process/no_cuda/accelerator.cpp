#include "learn/process/accelerator.hpp"

#include "headrace/device/cuda_device.hpp"

namespace headrace::process {

std::unique_ptr<Accelerator> open_cuda_accelerator(storage::GpuDirect) {
  device::cuda::refuse_cuda();
}

}  // namespace headrace::process
