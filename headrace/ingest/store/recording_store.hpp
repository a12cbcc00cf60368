#pragma once
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "headrace/ingest/store/manifest.hpp"
#include "headrace/storage/forwarding_store.hpp"

namespace headrace::ingest {

/// A store that keeps the SHA-256 and size of everything that is put through it, so that the
/// manifest needs no second reading. Safe from any thread.
class RecordingStore : public storage::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  void put(const std::string& key, std::span<const std::byte> bytes) override;
  void erase(const std::string& key) override;
  /// One by one, so that each is recorded.
  void move_folder(const std::string& from, const std::string& to) override {
    Store::move_folder(from, to);
  }

  /// The objects that were put and not erased since.
  std::map<std::string, ManifestEntry> entries() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, ManifestEntry> entries_;
};

}  // namespace headrace::ingest
