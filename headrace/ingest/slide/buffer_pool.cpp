#include "headrace/ingest/slide/buffer_pool.hpp"

#include <new>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::ingest {

BufferPool::Lease& BufferPool::Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    pool_ = std::exchange(other.pool_, nullptr);
    memory_ = std::move(other.memory_);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
  }
  return *this;
}

void BufferPool::Lease::release() {
  if (!memory_) return;
  const std::lock_guard lock(pool_->mutex_);
  if (pool_->free_bytes_ + size_bytes_ <= pool_->keep_bytes_) {
    pool_->free_bytes_ += size_bytes_;
    pool_->free_.push_back({std::move(memory_), size_bytes_});
  }
  memory_.reset();
}

BufferPool::Lease BufferPool::take(std::size_t size_bytes) {
  Lease lease;
  lease.pool_ = this;
  lease.size_bytes_ = size_bytes;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = free_.size(); i-- > 0;) {
      // A buffer of twice the size would waste memory; a smaller one is replaced by a new one.
      if (free_[i].size_bytes < size_bytes || free_[i].size_bytes / 2 > size_bytes) continue;
      lease.memory_ = std::move(free_[i].memory);
      lease.size_bytes_ = free_[i].size_bytes;
      free_bytes_ -= free_[i].size_bytes;
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      return lease;
    }
  }
  lease.memory_.reset(new (std::nothrow) std::uint8_t[size_bytes]);
  if (!lease.memory_) fail(ErrorCode::memory, "no memory for {} bytes of pixels", size_bytes);
  return lease;
}

}  // namespace headrace::ingest
