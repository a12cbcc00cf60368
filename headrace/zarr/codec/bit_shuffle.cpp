#include "headrace/zarr/codec/bit_shuffle.hpp"

#include "headrace/device/cpu_isa.hpp"

namespace headrace::zarr {
namespace {

const BitShuffle& chosen() {
  return device::cpu_isa() >= device::CpuIsa::x86_64_v3 ? kBitShuffleV3 : kBitShuffleV1;
}

}  // namespace

void bit_shuffle16(const std::byte* elements, std::size_t count, std::byte* planes) {
  chosen().shuffle(elements, count, planes);
}

void bit_unshuffle16(const std::byte* planes, std::size_t count, std::size_t first,
                     std::size_t last, std::byte* out) {
  chosen().unshuffle(planes, count, first, last, out);
}

}  // namespace headrace::zarr
