#include "headrace/device/memory_budget.hpp"

#include <mutex>
#include <utility>

#include "headrace/core/error.hpp"

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

MemoryBudget::MemoryBudget(std::size_t limit_bytes, std::string owner, std::string advice)
    : bound_(new Bound{limit_bytes, std::move(owner), std::move(advice)}) {}

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

void MemoryBudget::reserve(DeviceBuffer& buffer, std::size_t size_bytes) const {
  if (size_bytes <= buffer.size()) return;
  const std::size_t grown = size_bytes + size_bytes / 8;
  take(grown - buffer.size());
  try {
    buffer.reserve(grown);
  } catch (...) {
    give_back(grown);  // the buffer has let its old memory go before
    throw;
  }
}

}  // namespace headrace::device::cuda
