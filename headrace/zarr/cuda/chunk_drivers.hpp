#pragma once
#include <cstddef>
#include <cstdint>

#include "headrace/device/cuda_device.hpp"
#include "headrace/zarr/crc32c_pieces.hpp"
#include "headrace/zarr/placement.hpp"

namespace headrace::zarr::cuda {

/// A table of placements in device memory, and the most units that any of them has.
struct PlacementTable {
  const Placement* placements = nullptr;
  std::size_t count = 0;
  std::int32_t most_units = 0;
};

/// Runs place_unit for every unit of every placement: one launch for 65,535 of them.
void place(const PlacementTable& table, const std::uint8_t* encoded, const std::uint8_t* decoded,
           std::uint8_t* out, const char* name, device::cuda::Stream& stream);

/// shares[i] = crc32c_share(pieces[i], bytes), one launch; every pointer is device memory.
void crc32c_shares(std::int64_t count, const Crc32cPiece* pieces, const std::uint8_t* bytes,
                   std::uint32_t* shares, device::cuda::Stream& stream);

}  // namespace headrace::zarr::cuda
