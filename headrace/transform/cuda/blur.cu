#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/cuda/drivers.hpp"
#include "headrace/transform/patch_pixel.hpp"

namespace headrace::transform::cuda {

void blur(const BlurKernel& kernel, float* plane, device::cuda::Stream& stream) {
  const std::int64_t values = std::int64_t{3} * kernel.height * kernel.width;
  device::cuda::for_each(stream, values, BlurRowPixel{kernel, plane}, "blur along rows");
  device::cuda::for_each(stream, values, BlurColumnPixel{kernel, plane}, "blur along columns");
}

}  // namespace headrace::transform::cuda
