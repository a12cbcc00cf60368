#pragma once
#include <cstddef>

#include "headrace/device/cuda_device.hpp"

namespace headrace::device_bench {

/// Puts work of `ms` milliseconds into the stream, in a training step's place: kernels of 0.1 ms,
/// one after the other, each with as many threads as the GPU holds at once. They read the batch
/// once and compute nothing. Between two of them the GPU begins work of other streams, as it does
/// between a network's. `sum`: 4 bytes of device memory. Errors: device.
void consume(const void* images, std::size_t size_bytes, double ms, unsigned* sum,
             device::cuda::Stream& stream);

}  // namespace headrace::device_bench
