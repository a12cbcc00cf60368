#include "headrace/storage/cached_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace headrace::storage {
namespace {

constexpr std::uint64_t kBlock = 64 << 10, kLongest = 4 << 20, kKeptBytes = 16 << 20;

using Block = std::shared_ptr<const std::vector<std::byte>>;

class CachedBlocks : public Object {
 public:
  explicit CachedBlocks(std::shared_ptr<const Object> inner) : inner_(std::move(inner)) {}

  std::uint64_t size_bytes() const override { return inner_->size_bytes(); }
  std::string local_path() const override { return inner_->local_path(); }
  std::string describe() const override { return inner_->describe(); }
  std::string identity() const override { return inner_->identity(); }
  RequestCost cost() const override { return inner_->cost(); }
  void start_read(std::uint64_t offset, std::span<std::byte> dst,
                  const ReadDone& done) const override {
    inner_->start_read(offset, dst, done);
  }

  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    const std::uint64_t size = size_bytes();
    if (dst.size() > kLongest || offset > size || dst.size() > size - offset) {
      inner_->read(offset, dst);
      return;
    }
    if (dst.size() > kBlock) {
      std::memcpy(dst.data(), bytes_of(offset, dst.size())->data(), dst.size());
      return;
    }
    while (!dst.empty()) {
      const std::uint64_t first = offset / kBlock * kBlock, at = offset - first;
      const Block block = bytes_of(first, std::min(kBlock, size - first));
      const std::size_t count = std::min<std::uint64_t>(dst.size(), block->size() - at);
      std::memcpy(dst.data(), block->data() + at, count);
      dst = dst.subspan(count);
      offset += count;
    }
  }

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;  ///< offset, count
  using Recent = std::list<std::pair<Range, Block>>;

  Block bytes_of(std::uint64_t offset, std::uint64_t count) const {
    const Range range{offset, count};
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = places_.find(range); found != places_.end()) {
        recent_.splice(recent_.begin(), recent_, found->second);
        return found->second->second;
      }
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(count);
    inner_->read(offset, *bytes);
    const std::lock_guard lock(mutex_);
    if (places_.contains(range)) return bytes;
    recent_.emplace_front(range, bytes);
    places_[range] = recent_.begin();
    kept_ += count;
    while (kept_ > kKeptBytes) {
      kept_ -= recent_.back().second->size();
      places_.erase(recent_.back().first);
      recent_.pop_back();
    }
    return bytes;
  }

  std::shared_ptr<const Object> inner_;
  mutable std::mutex mutex_;
  mutable Recent recent_;
  mutable std::map<Range, Recent::iterator> places_;
  mutable std::uint64_t kept_ = 0;
};

}  // namespace

std::shared_ptr<const Object> with_cached_blocks(std::shared_ptr<const Object> object) {
  if (!object->cost().asynchronous) return object;
  return std::make_shared<CachedBlocks>(std::move(object));
}

}  // namespace headrace::storage
