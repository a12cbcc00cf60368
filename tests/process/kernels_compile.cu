// Compiled, not run: the arithmetic of process is that of a GPU thread too. Without contraction
// (--fmad=false) its PTX must hold no fused multiply-add, or a CPU and a GPU would differ in their
// last bits.
#include "headrace/process/pixel_math.hpp"

using namespace headrace;

__global__ void run_sobel(const std::uint8_t* rgb, std::int64_t height, std::int64_t width,
                          float* out) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= height * width) return;
  float v[9];
  for (int k = 0; k < 9; ++k) {
    const std::int64_t y = process::reflected(i / width + k / 3 - 1, height);
    const std::int64_t x = process::reflected(i % width + k % 3 - 1, width);
    const std::uint8_t* p = rgb + (y * width + x) * 3;
    v[k] = process::luminance(float(p[0]), float(p[1]), float(p[2]));
  }
  out[i] = process::sobel_of(v[0], v[1], v[2], v[3], v[5], v[6], v[7], v[8]);
}

__global__ void run_pixels(process::TileKernel kernel, std::uint8_t* out, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint8_t* p = kernel.source.base + 3 * i;
  const math::Rgb<float> v{float(p[0]), float(p[1]), float(p[2])};
  const auto amounts = process::stain_amounts(kernel.colour, v);
  const auto colour = math::affine_density(kernel.colour, v);
  out[3 * i] = process::mask_of(p[0], p[1], p[2], kernel.threshold);
  out[3 * i + 1] = std::uint8_t(process::rounded(amounts.r, kernel.out.scale, 255.0f));
  out[3 * i + 2] = std::uint8_t(process::rounded(
      process::gaussian_step(colour.r, colour.g, colour.b, kernel.weights[0]), 1.0f, 255.0f));
}
