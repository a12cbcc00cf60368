#pragma once
#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/patch_kernel.hpp"

/// One launch for each operation; the arithmetic is in patch_pixel.hpp. Every pointer of a kernel,
/// control values included, is device memory.
namespace headrace::transform::cuda {

void image(const PatchKernel& kernel, device::cuda::Stream& stream);
void recolour(const RecolourKernel& kernel, device::cuda::Stream& stream);
void labels(const LabelKernel& kernel, device::cuda::Stream& stream);
/// `plane`: (3, height, width) floats to work in.
void blur(const BlurKernel& kernel, float* plane, device::cuda::Stream& stream);

}  // namespace headrace::transform::cuda
