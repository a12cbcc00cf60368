// Compiled, not run: the kernels of the CPU are the kernels of a GPU. Without contraction (--fmad=false) its PTX must hold
// no fused multiply-add, or the two would differ in their last bits.
#include "headrace/transform/patch_pixel.hpp"

__global__ void run_patch(headrace::transform::PatchPixel kernel, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) kernel(i);
}

__global__ void run_labels(headrace::transform::LabelPixel kernel, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) kernel(i);
}

__global__ void run_recolour(headrace::transform::RecolourPixel kernel, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) kernel(i);
}

__global__ void run_blur_rows(headrace::transform::BlurRowPixel kernel, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) kernel(i);
}

__global__ void run_blur_columns(headrace::transform::BlurColumnPixel kernel, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) kernel(i);
}
