#pragma once
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>

#include "headrace/device/cuda_device.hpp"

namespace headrace::fixtures {

/// Where tensors are held to the host's results: GPU 0 if there is one, else the CPU. So what a GPU is
/// to give is tested on every machine, and on a GPU where there is one.
inline at::Device model_device() {
  return at::hasCUDA() && device::cuda::cuda_available() ? at::Device(at::kCUDA, 0)
                                                         : at::Device(at::kCPU);
}

}  // namespace headrace::fixtures
