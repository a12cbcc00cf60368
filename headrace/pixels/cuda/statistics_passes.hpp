#pragma once
#include "headrace/device/cuda_device.hpp"
#include "headrace/pixels/statistics/statistics_pass.hpp"

namespace headrace::pixels::cuda {

/// Puts a pass into the stream, one launch; its arithmetic is in the passes of StatisticsPass.
void gather(const StatisticsPass& pass, device::cuda::Stream& stream);

}  // namespace headrace::pixels::cuda
