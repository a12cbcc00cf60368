#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "headrace/storage/network_counters.hpp"
#include "headrace/storage/network_options.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// Which object: its URL, its size, and what tells its content from another's (Object::identity).
struct DiskCacheKey {
  std::string url;
  std::uint64_t size_bytes = 0;
  std::string identity;
};

/// Ranges of objects of servers, kept in a folder of this machine (NetworkOptions::cache). Several
/// processes may share one. A few threads of its own read and write; what can't be kept, since they
/// are behind, the folder is full or the disk fails, is read again from the server. Safe from any
/// thread.
class DiskCache {
 public:
  /// That of network().cache; nothing where none is wanted. A forked process has its own. Errors: io
  /// (its folder can't be made or written).
  static std::optional<DiskCache> of_this_process();

  /// Whether there can be such a one; makes its folder. Errors: io.
  static void check(const CacheOptions& wanted);

  /// Waits until this process has written what is to be kept, or that long for each cache.
  static void drain(std::chrono::milliseconds most);

  /// The version (DiskCacheFile::Facts) of what is kept of an object; nothing where nothing is, or
  /// where the server has not answered for it since some object was found replaced: of files that were
  /// all stored anew one ends a run, and not one after the other.
  std::optional<std::string> version_of(const DiskCacheKey& key) const;
  /// The object, whose reads are answered from what is kept, and kept. A read that finds another
  /// object on the server (corrupt) ends what is kept of this one. was_asked: the server has answered
  /// for this version just now.
  std::shared_ptr<const Object> with_cache(std::shared_ptr<const Object> object,
                                           const DiskCacheKey& key, const std::string& version,
                                           bool was_asked) const;

  struct State;

 private:
  explicit DiskCache(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// What the caches of this process have done. Safe from any thread.
DiskCounters disk_counters();

}  // namespace headrace::storage
