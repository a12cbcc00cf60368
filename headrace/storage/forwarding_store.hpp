#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// A store that asks another one for everything, for stores that change one thing of it. Safe from
/// any thread. put_file, sync and remove_leftovers are Store's: what is put goes through `put`.
class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {}

  std::shared_ptr<const Object> open(const std::string& key) const override {
    return inner_->open(key);
  }
  void start_open(const std::string& key, std::size_t tail_bytes,
                  const OpenDone& done) const override {
    inner_->start_open(key, tail_bytes, done);
  }
  std::shared_ptr<const Object> known(const std::string& key, std::uint64_t size_bytes,
                                      const std::string& identity) const override {
    return inner_->known(key, size_bytes, identity);
  }
  RequestCost cost() const override { return inner_->cost(); }
  bool still_has(const std::string& key) const override { return inner_->still_has(key); }
  void put(const std::string& key, std::span<const std::byte> bytes) override {
    inner_->put(key, bytes);
  }
  void erase(const std::string& key) override { inner_->erase(key); }
  void move_folder(const std::string& from, const std::string& to) override {
    inner_->move_folder(from, to);
  }
  std::vector<std::string> list(const std::string& prefix) const override {
    return inner_->list(prefix);
  }
  bool can_list() const override { return inner_->can_list(); }
  std::string describe(const std::string& key) const override { return inner_->describe(key); }

 protected:
  Store& inner() const noexcept { return *inner_; }

 private:
  std::shared_ptr<Store> inner_;
};

}  // namespace headrace::storage
