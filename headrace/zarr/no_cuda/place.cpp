#include "headrace/core/error.hpp"
#include "headrace/zarr/cuda/drivers.hpp"

namespace headrace::zarr::cuda {

void place(const PlacementTable&, const std::uint8_t*, const std::uint8_t*, std::uint8_t*,
           const char*, device::cuda::Stream&) {
  fail(ErrorCode::unsupported, "{}", device::cuda::describe());
}

}  // namespace headrace::zarr::cuda
