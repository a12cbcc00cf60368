#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "headrace/storage/forwarding_store.hpp"

namespace headrace::ingest {

/// A store that counts the bytes put into it. Safe from any thread.
class CountingStore : public storage::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  void put(const std::string& key, std::span<const std::byte> bytes) override {
    inner().put(key, bytes);
    bytes_put_ += bytes.size();
  }

  std::uint64_t bytes_put() const noexcept { return bytes_put_; }

 private:
  std::atomic<std::uint64_t> bytes_put_{0};
};

}  // namespace headrace::ingest
