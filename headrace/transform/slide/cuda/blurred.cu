#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/slide/cuda/patch_drivers.hpp"

namespace headrace::transform::cuda {

void blurred(std::int32_t count, const BlurredPatch* patches, const BatchTensor& out,
             device::cuda::Stream& stream) {
  using device::cuda::for_each_of;
  const std::int32_t pixels = out.height * out.width;
  for_each_of(stream, count, 3 * pixels, BatchBlurRowPixel{patches}, "blur along rows");
  for_each_of(stream, count, 3 * pixels, BatchBlurColumnPixel{patches}, "blur along columns");
  for_each_of(stream, count, pixels, BatchRecolourPixel{patches, out}, "recolour");
}

}  // namespace headrace::transform::cuda
