#include "headrace/transform/volume/cpu/volume_rows.inc"

const headrace::transform::cpu::VolumeDriver& headrace::transform::cpu::volume_driver_for(
    device::CpuIsa) noexcept {
  static constexpr VolumeDriver driver{gather, stages, statistics, blur, low_resolution, smooth};
  return driver;
}
