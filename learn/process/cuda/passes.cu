#include "learn/process/cuda/passes.hpp"

#include "headrace/device/cuda/for_each.cuh"
#include "learn/process/tile_pixel.hpp"

namespace headrace::process::cuda {

void run(const TileKernel& kernel, float* sums, device::cuda::Stream& stream) {
  run_passes(
      kernel, sums,
      [&stream](std::int32_t rows, std::int32_t elements, const auto& pass, const char* name) {
        device::cuda::for_each_of(stream, rows, elements, pass, name);
      });
}

void run(const StoredPass& pass, device::cuda::Stream& stream) {
  std::visit(
      [&stream](const auto& kernel) {
        device::cuda::for_each_of(stream, kernel.rows(), kernel.elements(), kernel,
                                  "stored pixels");
      },
      pass);
}

}  // namespace headrace::process::cuda
