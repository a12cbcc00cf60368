#pragma once
#include "headrace/device/cuda_device.hpp"
#include "learn/process/stored_pixel.hpp"
#include "learn/process/tile_kernel.hpp"

namespace headrace::process::cuda {

/// Puts the passes of a tile into the stream, one launch each; the arithmetic is in pixel_math.hpp.
void run(const TileKernel& kernel, float* sums, device::cuda::Stream& stream);

/// The same for a pass between files and images.
void run(const StoredPass& pass, device::cuda::Stream& stream);

}  // namespace headrace::process::cuda
