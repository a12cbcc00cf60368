#pragma once
#include <cstdint>

#include "headrace/device/cuda_device.hpp"

/// Kernels of a writer and of a consumer that takes its time.
namespace headrace::device::cuda::fixtures {

void fill(std::uint32_t* words, std::int64_t count, std::uint32_t value, Stream& stream);
/// Does nothing for so long, while other streams may work.
void spin(std::uint64_t nanoseconds, Stream& stream);
/// Adds to `wrong` how many of the words are not `value`.
void count_others(const std::uint32_t* words, std::int64_t count, std::uint32_t value,
                  unsigned* wrong, Stream& stream);

}  // namespace headrace::device::cuda::fixtures
