#include "headrace/ingest/store/recording_store.hpp"

#include "headrace/core/sha256.hpp"

namespace headrace::ingest {

std::shared_ptr<const storage::Object> RecordingStore::open(const std::string& key) const {
  return inner_->open(key);
}

void RecordingStore::start_open(const std::string& key, std::size_t tail_bytes,
                                const storage::OpenDone& done) const {
  inner_->start_open(key, tail_bytes, done);
}

void RecordingStore::put(const std::string& key, std::span<const std::byte> bytes) {
  ManifestEntry entry{sha256_hex(bytes), bytes.size()};
  inner_->put(key, bytes);
  const std::lock_guard lock(mutex_);
  entries_[key] = std::move(entry);
}

void RecordingStore::erase(const std::string& key) {
  inner_->erase(key);
  const std::lock_guard lock(mutex_);
  entries_.erase(key);
}

std::vector<std::string> RecordingStore::list(const std::string& prefix) const {
  return inner_->list(prefix);
}

std::string RecordingStore::describe(const std::string& key) const { return inner_->describe(key); }

std::map<std::string, ManifestEntry> RecordingStore::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

}  // namespace headrace::ingest
