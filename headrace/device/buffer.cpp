#include "headrace/device/buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::device {
namespace {
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// Asks for large pages, which a system may or may not have: both are right.
void prefer_large_pages(std::byte* data, std::size_t size_bytes) {
  ::madvise(data, size_bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
}
}  // namespace

void HostBuffer::Free::operator()(std::byte* pointer) const noexcept { std::free(pointer); }

HostBuffer::HostBuffer(std::size_t size_bytes) : size_(size_bytes) {
  const std::size_t whole = (size_bytes + kTailPadding + kAlignment - 1) / kAlignment * kAlignment;
  const bool large = size_bytes >= kLargePage;
  void* data = nullptr;
  if (::posix_memalign(&data, large ? kLargePage : kAlignment, whole) != 0) {
    fail(ErrorCode::memory, "{} bytes of host memory could not be allocated", size_bytes);
  }
  data_.reset(static_cast<std::byte*>(data));
  if (large) prefer_large_pages(data_.get(), size_bytes);
  std::memset(data_.get() + size_bytes, 0, whole - size_bytes);
}

void HostBuffer::reserve(std::size_t size_bytes) {
  if (size_bytes > size_) *this = HostBuffer(size_bytes);
}

BufferPool::Lease& BufferPool::Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    pool_ = other.pool_;
    other.pool_ = nullptr;
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

void BufferPool::Lease::release() noexcept {
  BufferPool* pool = std::exchange(pool_, nullptr);
  if (pool == nullptr) return;
  HostBuffer buffer = std::move(buffer_);  // what is not kept is freed without the lock
  const std::lock_guard lock(pool->mutex_);
  if (buffer.size() > pool->keep_bytes_ - pool->kept_bytes_) return;
  pool->kept_bytes_ += buffer.size();
  pool->kept_.push_back(std::move(buffer));
}

BufferPool::Lease BufferPool::take(std::size_t size_bytes) {
  const bool bounded = keep_bytes_ < std::numeric_limits<std::size_t>::max();
  {
    const std::lock_guard lock(mutex_);
    auto best = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      // With a bound, a buffer of over twice the size would keep the next large one from a place.
      if (bounded && it->size() / 2 > size_bytes) continue;
      if (it->size() >= size_bytes && (best == kept_.end() || it->size() < best->size())) best = it;
    }
    if (best != kept_.end()) {
      HostBuffer buffer = std::move(*best);
      kept_.erase(best);
      kept_bytes_ -= buffer.size();
      return {this, std::move(buffer)};
    }
  }
  return {this, HostBuffer(size_bytes)};
}

}  // namespace headrace::device
