// Compiled, not run: the kernels of the CPU are the kernels of a GPU. Without contraction
// (--fmad=false) its PTX must hold no fused multiply-add, or the two would differ in their last
// bits.
#include "headrace/pixels/statistics/statistics_pass.hpp"
#include "headrace/transform/slide/batch_pixel.hpp"
#include "headrace/transform/volume/voxel.hpp"

namespace {

using namespace headrace::transform;
namespace pixels = headrace::pixels;

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

#define HR_KERNEL(name, Pass) \
  __global__ void name(Pass pass, std::int32_t n) { run(n, pass); }
HR_KERNEL(run_row_controls, RowControlValue)
HR_KERNEL(run_volume, VolumeVoxel)
HR_KERNEL(run_stages_voxel, StagesVoxel)
HR_KERNEL(run_row_sums, RowSumsValue)
HR_KERNEL(run_slice_sums, SliceSumsValue)
HR_KERNEL(run_statistics, PatchStatisticsValue)
HR_KERNEL(run_resolved, ResolvedStages)
HR_KERNEL(run_volume_blur, VolumeBlurVoxel)
HR_KERNEL(run_reduced, ReducedVoxel)
HR_KERNEL(run_enlarged, EnlargedVoxel)
HR_KERNEL(run_smooth, SmoothVoxel)

HR_KERNEL(run_spread, pixels::SpreadPixel)
HR_KERNEL(run_threshold, pixels::ThresholdWord)
HR_KERNEL(run_along_x, pixels::WordAlongX)
HR_KERNEL(run_along_y, pixels::WordAlongY)
#define HR_COUNTING_KERNEL(name, Pass)                                   \
  __global__ void name(Pass pass, std::int32_t* out) {                   \
    *out = pass.bin(blockIdx.y, static_cast<std::int32_t>(threadIdx.x)); \
  }
HR_COUNTING_KERNEL(run_darkest, pixels::DarkestCount)
HR_COUNTING_KERNEL(run_tissue, pixels::TissueCount)
HR_COUNTING_KERNEL(run_cleared, pixels::ClearedCount)
HR_COUNTING_KERNEL(run_intensity, pixels::IntensityCount)
__global__ void run_stain(pixels::StainSums pass, pixels::StainSample* out) {
  *out = pass.sample(blockIdx.y, static_cast<std::int32_t>(threadIdx.x));
  pixels::StainSums::add(*out, pass.totals);
}
