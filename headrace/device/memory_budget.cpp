#include "headrace/device/memory_budget.hpp"

#include <mutex>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/device/memory_relief.hpp"

namespace headrace::device::cuda {
namespace {

constexpr double kMib = 1 << 20;

}  // namespace

struct MemoryBudget::Bound {
  const std::size_t limit;
  const std::string owner, advice;
  std::mutex mutex{};
  std::size_t used = 0;
};

MemoryBudget::MemoryBudget(std::size_t limit_bytes, std::string owner, std::string advice,
                           std::shared_ptr<MemoryPool> pool)
    : bound_(new Bound{limit_bytes, std::move(owner), std::move(advice)}), pool_(std::move(pool)) {}

MemoryBudget MemoryBudget::named(std::string what) const {
  MemoryBudget out = *this;
  out.what_ = std::move(what);
  return out;
}

void MemoryBudget::take(std::size_t bytes) const {
  if (!bound_) return;
  const std::lock_guard lock(bound_->mutex);
  if (bytes > bound_->limit - bound_->used) {
    fail(ErrorCode::memory,
         "{} of {:.0f} MiB do not fit: {} may take {:.0f} MiB of the GPU and has taken {:.0f}. {}",
         what_, static_cast<double>(bytes) / kMib, bound_->owner,
         static_cast<double>(bound_->limit) / kMib, static_cast<double>(bound_->used) / kMib,
         bound_->advice);
  }
  bound_->used += bytes;
}

void MemoryBudget::give_back(std::size_t bytes) const noexcept {
  if (!bound_) return;
  const std::lock_guard lock(bound_->mutex);
  bound_->used -= bytes;
}

std::size_t MemoryBudget::used() const {
  if (!bound_) return 0;
  const std::lock_guard lock(bound_->mutex);
  return bound_->used;
}

template <typename Reserve>
void MemoryBudget::grow(const DeviceBuffer& buffer, std::size_t size_bytes,
                        const Reserve& reserve) const {
  if (size_bytes <= buffer.size()) return;
  const std::size_t bytes = grown(size_bytes);
  take(bytes - buffer.size());
  try {
    reserve(bytes);
  } catch (...) {
    give_back(bytes);  // the buffer has let its old memory go before
    throw;
  }
}

void MemoryBudget::reserve(DeviceBuffer& buffer, std::size_t size_bytes,
                           const Stream& stream) const {
  grow(buffer, size_bytes, [&](std::size_t bytes) { buffer.reserve(bytes, stream); });
}

void MemoryBudget::reserve(DeviceBuffer& buffer, std::size_t size_bytes) const {
  grow(buffer, size_bytes, [&](std::size_t bytes) { buffer.reserve(bytes); });
}

void* MemoryBudget::allocate(std::size_t bytes, CUstream_st* stream) const {
  take(bytes);
  try {
    if (pool_) return pool_->allocate(bytes, stream);
    return with_relief([&] { return DeviceMemory::allocate(bytes); });
  } catch (...) {
    give_back(bytes);
    throw;
  }
}

void MemoryBudget::release(void* data, std::size_t bytes, CUstream_st* stream) const noexcept {
  if (data == nullptr) return;
  if (pool_) {
    pool_->release(data, stream);
  } else {
    DeviceMemory::release(data);
  }
  give_back(bytes);
}

}  // namespace headrace::device::cuda
