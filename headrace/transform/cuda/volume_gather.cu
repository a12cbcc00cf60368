#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/cuda/volume_drivers.hpp"

namespace headrace::transform::cuda {

void smooth(const SmoothKernel& kernel, device::cuda::Stream& stream) {
  std::int64_t voxels = 1;
  for (int i = 0; i < 3; ++i) voxels *= kernel.end[i] - kernel.begin[i];
  device::cuda::for_each(stream, voxels, SmoothVoxel{kernel}, "smooth volume");
}

void gather(const VolumeKernel& kernel, float* row_controls, device::cuda::Stream& stream) {
  const std::int64_t rows = std::int64_t{kernel.size[0]} * kernel.size[1];
  const std::int32_t grid = kernel.placement.grid;
  if (grid > 0) {
    device::cuda::for_each(stream, rows * 3 * (grid + 3),
                           RowControlValue{kernel.placement, kernel.size[1], row_controls},
                           "volume row controls");
  }
  device::cuda::for_each(stream, rows * kernel.size[2], VolumeVoxel{kernel, row_controls},
                         "volume patch");
}

}  // namespace headrace::transform::cuda
