#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "headrace/zarr/codec/sharding_indexed.hpp"

namespace headrace::zarr {

/// Indexes of the shards that were read last, of all open arrays together, within a bound of bytes,
/// so that a loader's memory does not grow with the cohort. Safe from any thread.
class ShardIndexCache {
 public:
  explicit ShardIndexCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  /// The one that all arrays of this process share: 64 MiB.
  static ShardIndexCache& shared();

  /// A shard: the array's number in this process, and the shard's place in its grid.
  using Key = std::pair<std::uint64_t, Index>;

  std::shared_ptr<const ShardIndex> find(const Key& key);
  void insert(const Key& key, std::shared_ptr<const ShardIndex> index);
  std::size_t size_bytes() const;

 private:
  struct Entry {
    std::shared_ptr<const ShardIndex> index;
    std::list<Key>::iterator position;
  };
  static std::size_t cost(const ShardIndex& index) noexcept;

  std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Key> recent_;
  std::map<Key, Entry> entries_;
};

}  // namespace headrace::zarr
