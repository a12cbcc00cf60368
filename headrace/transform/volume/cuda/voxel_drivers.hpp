#pragma once
#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/volume/volume_batch.hpp"

namespace headrace::transform::cuda {

/// Puts one pass into the stream. Every pointer is device memory, including those in the kernels'
/// array.
void run(const VolumeLaunch& launch, const VolumeTensor& out, device::cuda::Stream& stream);

}  // namespace headrace::transform::cuda
