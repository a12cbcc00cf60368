#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/ingest/store/manifest.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// A store that keeps the SHA-256 and size of everything that is put through it, so that the
/// manifest needs no second reading. Safe from any thread.
class RecordingStore : public storage::Store {
 public:
  explicit RecordingStore(std::shared_ptr<storage::Store> inner) : inner_(std::move(inner)) {}

  std::shared_ptr<const storage::Object> open(const std::string& key) const override;
  void start_open(const std::string& key, std::size_t tail_bytes,
                  const storage::OpenDone& done) const override;
  storage::RequestCost cost() const override { return inner_->cost(); }
  bool still_has(const std::string& key) const override { return inner_->still_has(key); }
  void put(const std::string& key, std::span<const std::byte> bytes) override;
  void erase(const std::string& key) override;
  std::vector<std::string> list(const std::string& prefix) const override;
  std::string describe(const std::string& key) const override;

  /// The objects that were put and not erased since.
  std::map<std::string, ManifestEntry> entries() const;

 private:
  std::shared_ptr<storage::Store> inner_;
  mutable std::mutex mutex_;
  std::map<std::string, ManifestEntry> entries_;
};

}  // namespace headrace::ingest
