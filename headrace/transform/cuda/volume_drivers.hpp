#pragma once
#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/volume/voxel.hpp"

/// One launch for each operation; the arithmetic is in volume/voxel.hpp. Every pointer, of kernels
/// too, is device memory.
namespace headrace::transform::cuda {

void smooth(const SmoothKernel& kernel, device::cuda::Stream& stream);
/// `row_controls`: (rows, 3, grid + 3) floats to work in; none without a grid.
void gather(const VolumeKernel& kernel, float* row_controls, device::cuda::Stream& stream);
/// `resolved`: room for the stages with their statistics, of `passes`, put in.
void stages(const VolumeStagesKernel& kernel, const PatchStatistics* passes, VolumeStages* resolved,
            device::cuda::Stream& stream);
/// Of the patch in kernel.dst; `rows`: one for each row, to work in.
void statistics(const VolumeStagesKernel& kernel, RowSums* rows, PatchStatistics* out,
                device::cuda::Stream& stream);
/// `volume`: a second patch to work in.
void blur(const VolumeBlurKernel& kernel, float* volume, device::cuda::Stream& stream);
void low_resolution(const LowResolutionKernel& kernel, float* volume, device::cuda::Stream& stream);

}  // namespace headrace::transform::cuda
