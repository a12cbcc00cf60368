// Compiled, not run: the passes of process as a GPU's threads. Without contraction (--fmad=false)
// their PTX must hold no fused multiply-add, or a CPU and a GPU would differ in their last bits.
#include "learn/process/tile_pixel.hpp"

using namespace headrace;

template <typename Pass>
__global__ void run_pass(const __grid_constant__ Pass pass, std::int32_t elements) {
  const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < elements) pass(static_cast<std::int32_t>(blockIdx.y), i);
}

void start(const process::TileKernel& kernel, float* sums) {
  process::run_passes(kernel, sums,
                      [](std::int32_t rows, std::int32_t elements, const auto& pass, const char*) {
                        run_pass<<<dim3(1, static_cast<unsigned>(rows)), 256>>>(pass, elements);
                      });
}
