#include "headrace/transform/cpu/volume_rows.hpp"

namespace headrace::transform::cpu {

const VolumeDriver& volume_driver_for(device::CpuIsa isa) noexcept {
  switch (isa) {
    case device::CpuIsa::x86_64_v1:
      return kVolumeDriverV1;
    case device::CpuIsa::x86_64_v2:
      return kVolumeDriverV2;
    case device::CpuIsa::x86_64_v3:
      return kVolumeDriverV3;
  }
  return kVolumeDriverV1;
}

}  // namespace headrace::transform::cpu
