#pragma once
#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/statistics/pass.hpp"

namespace headrace::transform::cuda {

/// Puts a pass into the stream, one launch; its arithmetic is in statistics/.
void gather(const StatisticsPass& pass, device::cuda::Stream& stream);

}  // namespace headrace::transform::cuda
