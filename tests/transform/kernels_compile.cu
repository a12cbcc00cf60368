// Compiled, not run: the kernels of the CPU are the kernels of a GPU. Without contraction
// (--fmad=false) its PTX must hold no fused multiply-add, or the two would differ in their last
// bits.
#include "headrace/transform/batch_pixel.hpp"

namespace {

using namespace headrace::transform;

template <typename Pass>
__device__ void run(std::int32_t elements, const Pass& pass) {
  const auto element = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (element < elements) pass(static_cast<std::int32_t>(blockIdx.y), element);
}

}  // namespace

__global__ void run_patch(BatchPatchPixel pass, std::int32_t n) { run(n, pass); }
__global__ void run_labels(BatchLabelPixel pass, std::int32_t n) { run(n, pass); }
__global__ void run_recolour(BatchRecolourPixel pass, std::int32_t n) { run(n, pass); }
__global__ void run_blur_rows(BatchBlurRowPixel pass, std::int32_t n) { run(n, pass); }
__global__ void run_blur_columns(BatchBlurColumnPixel pass, std::int32_t n) { run(n, pass); }
