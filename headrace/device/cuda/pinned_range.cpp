#include "headrace/device/pinned_range.hpp"

#include <cuda_runtime_api.h>

#include "headrace/device/cuda/check.hpp"

namespace headrace::device::cuda {

PinnedRange::PinnedRange(std::span<std::byte> bytes) {
  HR_CUDA(cudaHostRegister(bytes.data(), bytes.size(), cudaHostRegisterPortable));
  data_ = bytes.data();
}

PinnedRange::~PinnedRange() {
  if (data_ != nullptr) cudaHostUnregister(data_);
}

}  // namespace headrace::device::cuda
