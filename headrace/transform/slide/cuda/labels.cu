#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/slide/cuda/patch_drivers.hpp"

namespace headrace::transform::cuda {

void labels(std::int32_t patches, std::int32_t pixels, const BatchLabelPixel& pass,
            device::cuda::Stream& stream) {
  device::cuda::for_each_of(stream, patches, pixels, pass, "labels");
}

}  // namespace headrace::transform::cuda
