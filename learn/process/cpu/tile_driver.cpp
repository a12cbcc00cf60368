#include "learn/process/cpu/tile_rows.hpp"

namespace headrace::process::cpu {

const Driver& driver_for(device::CpuIsa isa) noexcept {
  return device::compiled_for(isa, kDriverV1, kDriverV2, kDriverV3);
}

}  // namespace headrace::process::cpu
