// The drivers of zarr's kernels for the host in a GPU's place (tests/device/host_as_device.cpp).
#include "headrace/zarr/cuda/chunk_drivers.hpp"
#include "tests/device/host_stream.hpp"

namespace headrace::zarr::cuda {

void place(const PlacementTable& table, const std::uint8_t* encoded, const std::uint8_t* decoded,
           std::uint8_t* out, const char*, device::cuda::Stream& stream) {
  stream.get()->put([=] {
    for (std::size_t i = 0; i < table.count; ++i) {
      const Placement& p = table.placements[i];
      for (std::int32_t unit = 0; unit < table.most_units; ++unit) {
        if (unit < p.units()) place_unit(p, p.packed != 0 ? encoded : decoded, out, unit);
      }
    }
  });
}

void crc32c_shares(std::int64_t count, const Crc32cPiece* pieces, const std::uint8_t* bytes,
                   std::uint32_t* shares, device::cuda::Stream& stream) {
  stream.get()->put([=] {
    for (std::int64_t i = 0; i < count; ++i) shares[i] = crc32c_share(pieces[i], bytes);
  });
}

}  // namespace headrace::zarr::cuda
