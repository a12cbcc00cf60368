#pragma once
#include <cstddef>
#include <functional>
#include <utility>

#include "headrace/device/cuda_device.hpp"

namespace headrace::device::cuda {

/// Device memory that is counted: the counter is asked before more of it is taken.
class MemoryCounter {
 public:
  MemoryCounter() = default;
  /// take: is given the number of additional bytes; refuses by throwing.
  explicit MemoryCounter(std::function<void(std::size_t)> take) : take_(std::move(take)) {}

  /// Makes the buffer hold `size_bytes`, and an eighth more where it has to grow: otherwise every
  /// slightly larger batch would allocate, and an allocation waits for all work of the GPU.
  /// Contents are lost.
  void reserve(DeviceBuffer& buffer, std::size_t size_bytes) const {
    if (size_bytes <= buffer.size()) return;
    const std::size_t grown = size_bytes + size_bytes / 8;
    if (take_) take_(grown - buffer.size());
    buffer.reserve(grown);
  }

 private:
  std::function<void(std::size_t)> take_;
};

}  // namespace headrace::device::cuda
