#include "headrace/zarr/cuda/chunk_drivers.hpp"
#include "headrace/core/error.hpp"

namespace headrace::zarr::cuda {

void place(const PlacementTable&, const std::uint8_t*, const std::uint8_t*, std::uint8_t*,
           const char*, device::cuda::Stream&) {
  fail(ErrorCode::unsupported, "{}", device::cuda::describe());
}

void crc32c_shares(std::int64_t, const Crc32cPiece*, const std::uint8_t*, std::uint32_t*,
                   device::cuda::Stream&) {
  fail(ErrorCode::unsupported, "{}", device::cuda::describe());
}

}  // namespace headrace::zarr::cuda
