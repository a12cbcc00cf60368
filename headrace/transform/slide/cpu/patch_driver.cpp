#include "headrace/transform/slide/cpu/patch_rows.hpp"

namespace headrace::transform::cpu {

const Driver& driver_for(device::CpuIsa isa) noexcept {
  return device::compiled_for(isa, kDriverV1, kDriverV2, kDriverV3, kDriverV4);
}

}  // namespace headrace::transform::cpu
