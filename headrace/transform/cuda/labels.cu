#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/cuda/drivers.hpp"
#include "headrace/transform/patch_pixel.hpp"

namespace headrace::transform::cuda {

void labels(const LabelKernel& kernel, device::cuda::Stream& stream) {
  device::cuda::for_each(stream, std::int64_t{kernel.height} * kernel.width, LabelPixel{kernel},
                         "labels");
}

}  // namespace headrace::transform::cuda
