#include "headrace/device/cuda/for_each.cuh"
#include "headrace/zarr/cuda/chunk_drivers.hpp"

namespace headrace::zarr::cuda {
namespace {

struct ShareKernel {
  const Crc32cPiece* pieces;
  const std::uint8_t* bytes;
  std::uint32_t* shares;

  __device__ void operator()(std::int64_t i) const { shares[i] = crc32c_share(pieces[i], bytes); }
};

}  // namespace

void crc32c_shares(std::int64_t count, const Crc32cPiece* pieces, const std::uint8_t* bytes,
                   std::uint32_t* shares, device::cuda::Stream& stream) {
  device::cuda::for_each(stream, count, ShareKernel{pieces, bytes, shares}, "crc32c of chunks");
}

}  // namespace headrace::zarr::cuda
