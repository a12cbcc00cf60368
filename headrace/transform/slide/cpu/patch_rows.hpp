#pragma once
#include <cstdint>

#include "headrace/device/cpu_isa.hpp"
#include "headrace/transform/slide/patch_kernel.hpp"

namespace headrace::transform::cpu {

/// Working memory of a driver: rows of padded_width(width) floats, which the caller owns.
struct RowScratch {
  float* y;
  float* x;      ///< tap coordinates of the row
  float* noise;  ///< three rows
  float* control_y;
  float* control_x;  ///< the row's own control values, and room for a pack after them
  float* place_t;    ///< column → position in its cell
  std::int32_t* place_cell;
  float* plane;  ///< (height, width), with 2 · kMaxRadius + padding before and after; for blur only
};
/// Rows are processed in groups of 32 pixels.
HR_HD constexpr std::int32_t padded_width(std::int32_t width) {
  return (width + 31) / 32 * 32 + 32;
}

/// The loops over rows and packs for one instruction set. All arithmetic is in the kernels.
struct Driver {
  void (*image)(const PatchKernel&, const RowScratch&);
  void (*recolour)(const RecolourKernel&, const RowScratch&);
  void (*labels)(const LabelKernel&, const RowScratch&);
  void (*blur)(const BlurKernel&, const RowScratch&);
};
extern const Driver kDriverV1, kDriverV2, kDriverV3, kDriverV4;
const Driver& driver_for(device::CpuIsa isa) noexcept;

}  // namespace headrace::transform::cpu
