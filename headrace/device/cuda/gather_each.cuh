#pragma once
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <cstdint>

#include <algorithm>
#include <cstdint>

#include "headrace/device/cuda/check.hpp"
#include "headrace/device/cuda/gather_kernels.cuh"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/device_scope.hpp"

namespace headrace::device::cuda {

/// Puts `run` over every item below kernel.items() and element below kernel.elements() into the
/// stream, in one launch, whatever GPU is the calling thread's. Errors: device, if it can't be launched; they contain `name`, as a
/// profiler shows it.
template <typename Kernel>
void gather_each(Stream& stream, void (*run)(Kernel), const Kernel& kernel, const char* name) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  constexpr std::int64_t kBlocks = 2048, kMostAcross = 64;
  constexpr int kThreads = 256;
  const std::int64_t items = kernel.items(), elements = kernel.elements();
  if (items <= 0 || elements <= 0) return;
  const std::int64_t across = std::min(kMostAcross, (elements + kThreads - 1) / kThreads);
  const dim3 blocks(static_cast<unsigned>(across),
                    static_cast<unsigned>(std::min(items, kBlocks / across)));
  const DeviceScope scope(stream.device());
  nvtxRangePushA(name);
  run<<<blocks, kThreads, 0, stream.get()>>>(kernel);
  nvtxRangePop();
  check(cudaGetLastError(), name, __FILE__, __LINE__);
}

}  // namespace headrace::device::cuda
