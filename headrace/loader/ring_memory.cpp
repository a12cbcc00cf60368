#include "headrace/loader/ring_memory.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::loader::detail {
namespace {

using device::cuda::DevicePool;
using device::cuda::MemoryBudget;
using device::cuda::MemoryPool;

// Chunks at the edges of windows make a batch's stored bytes more than those of its windows, and
// compression makes them less.
std::size_t direct_bytes_of(const LoaderPlan& loader_plan) {
  if (loader_plan.decoding.direct == storage::GpuDirect::off) return 0;
  return least_window_bytes(loader_plan) * 3 / 2;
}

std::shared_ptr<MemoryPool> reserved_pool(const LoaderPlan& loader_plan) {
  auto pool = std::make_shared<MemoryPool>(loader_plan.device_index);
  const std::size_t bytes = reserved_bytes(loader_plan);
  try {
    pool->reserve(bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::memory) throw;
    fail(
        ErrorCode::memory,
        "{} MiB of the GPU, which the loader takes when it starts, are not there ({}). Lower "
        "loader.device_memory_mib, loader.prefetch, the batch or patch.size, or end what else uses "
        "the GPU",
        bytes >> 20, error.what());
  }
  return pool;
}

}  // namespace

std::size_t reserved_bytes(const LoaderPlan& loader_plan) {
  const auto ring = static_cast<std::size_t>(loader_plan.config.loader.prefetch);
  const std::size_t limit = loader_plan.device_limit_bytes;
  const std::size_t direct = MemoryBudget::grown(direct_bytes_of(loader_plan));
  const std::size_t pooled = limit - std::min(limit, ring * direct);
  if (loader_plan.config.loader.device_memory_mib > 0) return pooled;
  // Rotated windows are larger than the patches, blurred patches have planes in float32; encoded
  // and decoded chunks, with nvCOMP's scratch, take several times the windows.
  const std::size_t least = least_device_bytes(loader_plan);
  const bool decodes = loader_plan.decoding.on != zarr::DecodeOn::cpu;
  return std::min(pooled, decodes ? 3 * least : 2 * least);
}

RingMemory::RingMemory(const LoaderPlan& loader_plan)
    : pool(reserved_pool(loader_plan)),
      budget(loader_plan.device_limit_bytes, "the loader",
             "Raise loader.device_memory_mib, or lower loader.prefetch, the batch or patch.size",
             pool),
      batches(std::make_shared<DevicePool>(budget.named("batches"))),
      direct_bytes(direct_bytes_of(loader_plan)) {}

}  // namespace headrace::loader::detail
