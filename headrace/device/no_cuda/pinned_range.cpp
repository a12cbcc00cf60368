#include "headrace/device/pinned_range.hpp"

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::device::cuda {

PinnedRange::PinnedRange(std::span<std::byte>) { fail(ErrorCode::unsupported, "{}", describe()); }
PinnedRange::~PinnedRange() = default;

}  // namespace headrace::device::cuda
