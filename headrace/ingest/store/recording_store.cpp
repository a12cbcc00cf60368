#include "headrace/ingest/store/recording_store.hpp"

#include <utility>

#include "headrace/core/sha256.hpp"

namespace headrace::ingest {

void RecordingStore::put(const std::string& key, std::span<const std::byte> bytes) {
  ManifestEntry entry{sha256_hex(bytes), bytes.size()};
  inner().put(key, bytes);
  const std::lock_guard lock(mutex_);
  entries_[key] = std::move(entry);
}

void RecordingStore::erase(const std::string& key) {
  inner().erase(key);
  const std::lock_guard lock(mutex_);
  entries_.erase(key);
}

std::map<std::string, ManifestEntry> RecordingStore::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

}  // namespace headrace::ingest
