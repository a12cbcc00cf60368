#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/slide/cuda/patch_drivers.hpp"

namespace headrace::transform::cuda {

void images(std::int32_t patches, const BatchPatchPixel& pass, device::cuda::Stream& stream) {
  device::cuda::for_each_of(stream, patches, pass.out.height * pass.out.width, pass, "patches");
}

}  // namespace headrace::transform::cuda
