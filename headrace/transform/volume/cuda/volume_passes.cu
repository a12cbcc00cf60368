#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/volume/batch_launch.hpp"
#include "headrace/transform/volume/cuda/voxel_drivers.hpp"

namespace headrace::transform::cuda {

void run(const VolumeLaunch& launch, const VolumeTensor& out, device::cuda::Stream& stream) {
  run_launch(
      launch, out,
      [&stream](std::int32_t items, std::int32_t elements, const auto& kernel, const char* name) {
        device::cuda::for_each_of(stream, items, elements, kernel, name);
      });
}

}  // namespace headrace::transform::cuda
