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

constexpr std::uint64_t kBlock = 64 << 10;
constexpr std::size_t kKept = 64;
// Longer reads are of pixels, or of tables that are read once.
constexpr std::uint64_t kSmall = kBlock / 8;

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
    if (dst.size() > kSmall || offset > size || dst.size() > size - offset) {
      inner_->read(offset, dst);
      return;
    }
    while (!dst.empty()) {
      const std::uint64_t number = offset / kBlock, at = offset % kBlock;
      const Block block = block_of(number);
      const std::size_t count = std::min<std::uint64_t>(dst.size(), block->size() - at);
      std::memcpy(dst.data(), block->data() + at, count);
      dst = dst.subspan(count);
      offset += count;
    }
  }

 private:
  Block block_of(std::uint64_t number) const {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = places_.find(number); found != places_.end()) {
        recent_.splice(recent_.begin(), recent_, found->second);
        return found->second->second;
      }
    }
    const std::uint64_t first = number * kBlock;
    auto bytes = std::make_shared<std::vector<std::byte>>(std::min(kBlock, size_bytes() - first));
    inner_->read(first, *bytes);
    const std::lock_guard lock(mutex_);
    if (places_.contains(number)) return bytes;
    recent_.emplace_front(number, bytes);
    places_[number] = recent_.begin();
    if (recent_.size() > kKept) {
      places_.erase(recent_.back().first);
      recent_.pop_back();
    }
    return bytes;
  }

  using Recent = std::list<std::pair<std::uint64_t, Block>>;
  std::shared_ptr<const Object> inner_;
  mutable std::mutex mutex_;
  mutable Recent recent_;
  mutable std::map<std::uint64_t, Recent::iterator> places_;
};

}  // namespace

std::shared_ptr<const Object> with_cached_blocks(std::shared_ptr<const Object> object) {
  if (!object->cost().asynchronous) return object;
  return std::make_shared<CachedBlocks>(std::move(object));
}

}  // namespace headrace::storage
