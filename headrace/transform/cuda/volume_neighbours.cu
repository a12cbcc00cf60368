#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/cuda/volume_drivers.hpp"

namespace headrace::transform::cuda {

void blur(const VolumeBlurKernel& kernel, float* volume, device::cuda::Stream& stream) {
  const std::int64_t voxels = std::int64_t{kernel.size[0]} * kernel.size[1] * kernel.size[2];
  const auto along = [&](int axis, const float* from, float* to, const char* name) {
    device::cuda::for_each(stream, voxels, VolumeBlurVoxel{kernel, axis, from, to}, name);
  };
  along(2, kernel.dst, volume, "volume blur along x");
  along(1, volume, kernel.dst, "volume blur along y");
  along(0, kernel.dst, volume, "volume blur along z");
  device::cuda::check(cudaMemcpyAsync(kernel.dst, volume, sizeof(float) * voxels,
                                      cudaMemcpyDeviceToDevice, stream.get()),
                      "volume blur", __FILE__, __LINE__);
}

void low_resolution(const LowResolutionKernel& kernel, float* volume,
                    device::cuda::Stream& stream) {
  const std::int64_t small = std::int64_t{kernel.small[0]} * kernel.small[1] * kernel.small[2];
  const std::int64_t voxels = std::int64_t{kernel.size[0]} * kernel.size[1] * kernel.size[2];
  device::cuda::for_each(stream, small, ReducedVoxel{kernel, volume}, "volume reduction");
  device::cuda::for_each(stream, voxels, EnlargedVoxel{kernel, volume}, "volume enlargement");
}

}  // namespace headrace::transform::cuda
