#pragma once
#include <cstdint>

#include "headrace/device/cpu_isa.hpp"
#include "headrace/transform/volume/voxel_kernel.hpp"

namespace headrace::transform::cpu {

/// Working memory of a driver, which the caller owns. Rows hold volume_pitch(width) floats.
struct VolumeRowScratch {
  float* tap[3];  ///< tap coordinates of the row, z, y, x
  float* values;
  float* line;     ///< a row of the window; of the patch with mirrored ends
  float* place_t;  ///< column → position in its cell
  std::int32_t* place_cell;
  float* slice_control[3];  ///< (grid + 3)² and room for a pack
  float* row_control[3];    ///< grid + 3 and room for a pack
  float* volume;            ///< passes over neighbours: a second patch, rows of width floats
  float* packs;  ///< blur: a pack for each row along y or z, and kMaxRadius before and after
};
/// Rows are processed in groups of 32 voxels.
HR_HD constexpr std::int32_t volume_pitch(std::int32_t width) {
  return (width + 31) / 32 * 32 + 32;
}

/// The loops over rows and packs for one instruction set. All arithmetic is in the kernels.
/// The sums of each row of the patch go to `sums` where it is not null.
struct VolumeDriver {
  void (*gather)(const VolumeKernel&, const VolumeRowScratch&, RowSums* sums);
  void (*stages)(const VolumeStagesKernel&, const VolumeRowScratch&, RowSums* sums);
  void (*statistics)(const VolumeStagesKernel&, const VolumeRowScratch&, RowSums* sums);
  void (*blur)(const VolumeBlurKernel&, const VolumeRowScratch&);
  void (*low_resolution)(const LowResolutionKernel&, const VolumeRowScratch&);
  void (*smooth)(const SmoothKernel&);
};
extern const VolumeDriver kVolumeDriverV1, kVolumeDriverV2, kVolumeDriverV3, kVolumeDriverV4;
const VolumeDriver& volume_driver_for(device::CpuIsa isa) noexcept;

}  // namespace headrace::transform::cpu
