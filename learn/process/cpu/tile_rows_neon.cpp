#include "learn/process/cpu/tile_rows.inc"

const headrace::process::cpu::Driver& headrace::process::cpu::driver_for(device::CpuIsa) noexcept {
  static constexpr Driver driver{tile};
  return driver;
}
