#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// A store that counts the bytes put into it. Safe from any thread.
class CountingStore : public storage::Store {
 public:
  explicit CountingStore(std::shared_ptr<storage::Store> inner) : inner_(std::move(inner)) {}

  std::shared_ptr<const storage::Object> open(const std::string& key) const override {
    return inner_->open(key);
  }
  void start_open(const std::string& key, std::size_t tail_bytes,
                  const storage::OpenDone& done) const override {
    inner_->start_open(key, tail_bytes, done);
  }
  storage::RequestCost cost() const override { return inner_->cost(); }
  bool still_has(const std::string& key) const override { return inner_->still_has(key); }
  void put(const std::string& key, std::span<const std::byte> bytes) override {
    inner_->put(key, bytes);
    bytes_put_ += bytes.size();
  }
  void erase(const std::string& key) override { inner_->erase(key); }
  void move_folder(const std::string& from, const std::string& to) override {
    inner_->move_folder(from, to);
  }
  std::vector<std::string> list(const std::string& prefix) const override {
    return inner_->list(prefix);
  }
  std::string describe(const std::string& key) const override { return inner_->describe(key); }

  std::uint64_t bytes_put() const noexcept { return bytes_put_; }

 private:
  std::shared_ptr<storage::Store> inner_;
  std::atomic<std::uint64_t> bytes_put_{0};
};

}  // namespace headrace::ingest
