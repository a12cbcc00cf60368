#include "headrace/zarr/shard_index_cache.hpp"

#include <atomic>

#include "headrace/core/of_this_process.hpp"

namespace headrace::zarr {
namespace {

constexpr std::size_t kSharedBytes = std::size_t{64} << 20;
constexpr std::size_t kEntryOverhead = 512;  // nodes of the map and the list

struct Shared {
  const pid_t process = ::getpid();
  ShardIndexCache cache{kSharedBytes};
};

constinit std::atomic<Shared*> of_all_arrays{nullptr};

}  // namespace

ShardIndexCache& ShardIndexCache::shared() {
  return of_this_process(of_all_arrays, [] { return std::make_unique<Shared>(); }).cache;
}

std::size_t ShardIndexCache::cost(const ShardIndex& index) noexcept {
  return index.offset_and_size.size() * sizeof(std::uint64_t) + kEntryOverhead;
}

std::shared_ptr<const ShardIndex> ShardIndexCache::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second.position);
  return found->second.index;
}

void ShardIndexCache::insert(const Key& key, std::shared_ptr<const ShardIndex> index) {
  const std::lock_guard lock(mutex_);
  if (entries_.contains(key)) return;
  bytes_ += cost(*index);
  recent_.push_front(key);
  entries_.emplace(key, Entry{std::move(index), recent_.begin()});
  while (bytes_ > max_bytes_ && entries_.size() > 1) {
    const auto oldest = entries_.find(recent_.back());
    bytes_ -= cost(*oldest->second.index);
    entries_.erase(oldest);
    recent_.pop_back();
  }
}

std::size_t ShardIndexCache::size_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace headrace::zarr
