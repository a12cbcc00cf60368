#include "headrace/device/cuda/for_each.cuh"
#include "headrace/zarr/cuda/chunk_drivers.hpp"

namespace headrace::zarr::cuda {
namespace {

struct PlaceKernel {
  const Placement* placements;
  const std::uint8_t* encoded;
  const std::uint8_t* decoded;
  std::uint8_t* out;

  __device__ void operator()(std::int32_t item, std::int32_t unit) const {
    const Placement& p = placements[item];
    if (unit < p.units()) place_unit(p, p.packed != 0 ? encoded : decoded, out, unit);
  }
};

}  // namespace

void place(const PlacementTable& table, const std::uint8_t* encoded, const std::uint8_t* decoded,
           std::uint8_t* out, const char* name, device::cuda::Stream& stream) {
  constexpr std::size_t kMostItems = 65535;
  for (std::size_t begin = 0; begin < table.count; begin += kMostItems) {
    const std::size_t left = table.count - begin;
    const auto items = static_cast<std::int32_t>(left < kMostItems ? left : kMostItems);
    device::cuda::for_each_of(stream, items, table.most_units,
                              PlaceKernel{table.placements + begin, encoded, decoded, out}, name);
  }
}

}  // namespace headrace::zarr::cuda
