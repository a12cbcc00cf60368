#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace headrace::view {

/// Things that take time to make, by key; the least recently used go when their sizes exceed a
/// bound. A thing that several threads ask for at once is made once, and the others wait. Safe from
/// any thread; making one may ask for other keys, as long as those do not ask for it.
template <typename Key, typename Value>
class LruCache {
 public:
  using Pointer = std::shared_ptr<const Value>;
  struct Made {
    Pointer value;
    std::uint64_t bytes = 0;
  };

  /// The newest one stays even if it alone exceeds the bound.
  explicit LruCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// Errors: what `make` throws; then the next caller makes it anew.
  Pointer get(const Key& key, const std::function<Made()>& make) {
    if (Pointer there = find_or_claim(key)) return there;
    Made made;
    try {
      made = make();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      entries_.erase(key);
      changed_.notify_all();
      throw;
    }
    return keep(key, std::move(made));
  }

  std::uint64_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    Pointer value;  ///< null while it is being made
    std::uint64_t bytes = 0;
    typename std::list<Key>::iterator place;
  };

  Pointer find_or_claim(const Key& key) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto found = entries_.find(key);
      if (found == entries_.end()) {
        entries_.emplace(key, Entry{});
        return nullptr;
      }
      if (found->second.value) {
        recent_.splice(recent_.begin(), recent_, found->second.place);
        return found->second.value;
      }
      changed_.wait(lock);
    }
  }

  Pointer keep(const Key& key, Made made) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    recent_.push_front(key);
    entry = {made.value, made.bytes, recent_.begin()};
    bytes_ += made.bytes;
    while (bytes_ > max_bytes_ && recent_.size() > 1) {
      const auto oldest = entries_.find(recent_.back());
      bytes_ -= oldest->second.bytes;
      entries_.erase(oldest);
      recent_.pop_back();
    }
    changed_.notify_all();
    return made.value;
  }

  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Entry> entries_;
  std::list<Key> recent_;  ///< the last used first
  std::uint64_t bytes_ = 0;
};

}  // namespace headrace::view
