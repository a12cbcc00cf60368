#pragma once
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <type_traits>

#include "headrace/device/cuda/check.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/device_scope.hpp"

namespace headrace::device::cuda {

/// The kernel stays in constant memory: its tables are indexed at run time; otherwise it would be
/// copied to every thread's local memory.
template <typename Kernel>
__global__ void run_each(std::int64_t count, const __grid_constant__ Kernel kernel) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) kernel(i);
}

/// Puts kernel(0) … kernel(count - 1) into the stream, one thread each, in no order, whatever GPU is
/// the calling thread's. Errors: device, if it can't be launched; they contain `name`, as a
/// profiler shows it.
template <typename Kernel>
void for_each(Stream& stream, std::int64_t count, const Kernel& kernel, const char* name) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  constexpr int kThreads = 256;
  if (count <= 0) return;
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  const DeviceScope scope(stream.device());
  nvtxRangePushA(name);
  run_each<<<blocks, kThreads, 0, stream.get()>>>(count, kernel);
  nvtxRangePop();
  check(cudaGetLastError(), name, __FILE__, __LINE__);
}

template <typename Kernel>
__global__ void run_each_of(std::int32_t elements, const __grid_constant__ Kernel kernel) {
  const unsigned element = blockIdx.x * blockDim.x + threadIdx.x;  // beyond 2^31 in the last block
  if (element >= static_cast<unsigned>(elements)) return;
  kernel(static_cast<std::int32_t>(blockIdx.y), static_cast<std::int32_t>(element));
}

/// Puts kernel(item, element) for every item below `items` and element below `elements` into the
/// stream, one thread each, in no order, in one launch of at most 65,535 items. Errors: device, if
/// it can't be launched; they contain `name`, as a profiler shows it.
template <typename Kernel>
void for_each_of(Stream& stream, std::int32_t items, std::int32_t elements, const Kernel& kernel,
                 const char* name) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  constexpr unsigned kThreads = 256;
  if (items <= 0 || elements <= 0) return;
  const dim3 blocks((static_cast<unsigned>(elements) + kThreads - 1) / kThreads,
                    static_cast<unsigned>(items));
  const DeviceScope scope(stream.device());
  nvtxRangePushA(name);
  run_each_of<<<blocks, kThreads, 0, stream.get()>>>(elements, kernel);
  nvtxRangePop();
  check(cudaGetLastError(), name, __FILE__, __LINE__);
}

}  // namespace headrace::device::cuda
