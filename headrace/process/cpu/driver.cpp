#include "headrace/process/cpu/rows.hpp"

namespace headrace::process::cpu {

const Driver& driver_for(device::CpuIsa isa) noexcept {
  switch (isa) {
    case device::CpuIsa::x86_64_v1:
      return kDriverV1;
    case device::CpuIsa::x86_64_v2:
      return kDriverV2;
    case device::CpuIsa::x86_64_v3:
      return kDriverV3;
  }
  return kDriverV1;
}

}  // namespace headrace::process::cpu
