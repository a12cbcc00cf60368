#pragma once
#include <cstddef>
#include <span>
#include <utility>

namespace headrace::device::cuda {

/// While it lives, keeps memory of another owner page-locked, so that copies between it and the GPU
/// are direct. The memory must live longer. Movable. Errors: those of cuda_device.hpp.
class PinnedRange {
 public:
  PinnedRange() = default;
  explicit PinnedRange(std::span<std::byte> bytes);
  ~PinnedRange();
  PinnedRange(PinnedRange&& o) noexcept : data_(std::exchange(o.data_, nullptr)) {}
  PinnedRange& operator=(PinnedRange&& o) noexcept {
    std::swap(data_, o.data_);
    return *this;
  }

 private:
  std::byte* data_ = nullptr;
};

}  // namespace headrace::device::cuda
