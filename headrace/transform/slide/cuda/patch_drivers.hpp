#pragma once
#include <cstdint>

#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/slide/batch_pixel.hpp"

/// One launch for each pass; the arithmetic is in patch_pixel.hpp. Every pointer is device memory,
/// including those in the kernels' arrays.
namespace headrace::transform::cuda {

void images(std::int32_t patches, const BatchPatchPixel& pass, device::cuda::Stream& stream);
/// Blurs and finishes the patches that drew a blur.
void blurred(std::int32_t count, const BlurredPatch* patches, const BatchTensor& out,
             device::cuda::Stream& stream);
void labels(std::int32_t patches, std::int32_t pixels, const BatchLabelPixel& pass,
            device::cuda::Stream& stream);

}  // namespace headrace::transform::cuda
