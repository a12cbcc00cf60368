#include "headrace/device/pinned_range.hpp"

#include "headrace/core/error.hpp"

namespace headrace::device::cuda {

PinnedRange::PinnedRange(std::span<std::byte>) {
  fail(ErrorCode::unsupported, "this build has no CUDA; configure with -DHR_WITH_CUDA=ON");
}
PinnedRange::~PinnedRange() = default;

}  // namespace headrace::device::cuda
