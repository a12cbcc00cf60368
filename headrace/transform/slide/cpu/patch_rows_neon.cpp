#include "headrace/transform/slide/cpu/patch_rows.inc"

const headrace::transform::cpu::Driver& headrace::transform::cpu::driver_for(
    device::CpuIsa) noexcept {
  static constexpr Driver driver{image, recolour, labels, blur};
  return driver;
}
