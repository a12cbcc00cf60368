#include "headrace/transform/volume/cpu/volume_rows.hpp"

namespace headrace::transform::cpu {

const VolumeDriver& volume_driver_for(device::CpuIsa isa) noexcept {
  return device::compiled_for(isa, kVolumeDriverV1, kVolumeDriverV2, kVolumeDriverV3,
                              kVolumeDriverV4);
}

}  // namespace headrace::transform::cpu
