#include "headrace/device/cuda/for_each.cuh"
#include "headrace/transform/cuda/volume_drivers.hpp"

namespace headrace::transform::cuda {

void stages(const VolumeStagesKernel& kernel, const PatchStatistics* passes, VolumeStages* resolved,
            device::cuda::Stream& stream) {
  device::cuda::for_each(stream, 1, ResolvedStages{kernel.stages, passes, resolved},
                         "volume stages with statistics");
  device::cuda::for_each(stream, std::int64_t{kernel.size[0]} * kernel.size[1] * kernel.size[2],
                         StagesVoxel{resolved, kernel.size[2], kernel.dst}, "volume stages");
}

void statistics(const VolumeStagesKernel& kernel, RowSums* rows, PatchStatistics* out,
                device::cuda::Stream& stream) {
  const std::int32_t count = kernel.size[0] * kernel.size[1];
  device::cuda::for_each(stream, count, RowSumsValue{kernel.dst, kernel.size[2], rows},
                         "volume row sums");
  device::cuda::for_each(stream, 1,
                         PatchStatisticsValue{rows, count, kernel.size[2], kernel.dst, out},
                         "volume statistics");
}

}  // namespace headrace::transform::cuda
