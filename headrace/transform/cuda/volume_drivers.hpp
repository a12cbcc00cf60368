#pragma once
#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/volume/batch.hpp"

namespace headrace::transform::cuda {

/// Puts one pass into the stream. Every pointer, those in the kernels' array included, is device
/// memory.
void run(const VolumeLaunch& launch, const VolumeTensor& out, device::cuda::Stream& stream);

}  // namespace headrace::transform::cuda
