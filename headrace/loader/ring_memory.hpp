#pragma once
#include <cstddef>
#include <memory>

#include "headrace/device/device_pool.hpp"
#include "headrace/device/memory_budget.hpp"
#include "headrace/device/memory_pool.hpp"
#include "headrace/loader/plan/loader_plan.hpp"

namespace headrace::loader::detail {

/// The memory of a loader on its GPU, which the places of its ring share: taken from the driver when
/// the ring is made, so that no batch waits for the GPU's work to get some.
struct RingMemory {
  /// Takes what loader.device_memory_mib says; by default an estimate of the need, within the bound.
  /// Errors: memory (it is not there), device.
  explicit RingMemory(const LoaderPlan& loader_plan);

  const std::shared_ptr<device::cuda::MemoryPool> pool;
  /// The bound; its errors name the config's keys that make it fit.
  const device::cuda::MemoryBudget budget;
  const std::shared_ptr<device::cuda::DevicePool> batches;
  /// For each place: what is taken at the start for cuFile, which takes no memory of the pool.
  const std::size_t direct_bytes;
};

/// The bytes that the pool takes at the start, of `limit_bytes`.
std::size_t reserved_bytes(const LoaderPlan& loader_plan);

}  // namespace headrace::loader::detail
