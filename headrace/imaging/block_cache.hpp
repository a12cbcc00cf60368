#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace headrace::imaging {

/// Decoded blocks by number, first in, first out under a bound in bytes: a pass through an image
/// needs only the last rows of blocks again. Safe from any thread.
template <typename Block>
class BlockCache {
 public:
  explicit BlockCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  std::shared_ptr<const Block> find(std::int64_t key) const {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(key);
    return found == blocks_.end() ? nullptr : found->second.block;
  }

  void put(std::int64_t key, std::shared_ptr<const Block> block, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!blocks_.emplace(key, Entry{std::move(block), bytes}).second) return;
    bytes_ += bytes;
    order_.push_back(key);
    while (order_.size() > 1 && bytes_ > max_bytes_) {
      const auto oldest = blocks_.find(order_.front());
      bytes_ -= oldest->second.bytes;
      blocks_.erase(oldest);
      order_.pop_front();
    }
  }

 private:
  struct Entry {
    std::shared_ptr<const Block> block;
    std::uint64_t bytes;
  };

  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, Entry> blocks_;
  std::deque<std::int64_t> order_;
  std::uint64_t bytes_ = 0;
};

}  // namespace headrace::imaging
