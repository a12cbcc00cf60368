#include "headrace/storage/http_store.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/await_read.hpp"
#include "headrace/storage/disk_cache.hpp"
#include "headrace/storage/http_reactor.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/s3_site.hpp"

namespace headrace::storage {
namespace {

constexpr std::size_t kHeadBytes = 8
                                   << 10;  // that come with opening: most objects of metadata whole
constexpr std::size_t kKeptObjects = 4096;
constexpr std::size_t kKeptTailBytes = 4 << 20;
// Between 0 and 64 KiB the rate of random patches is the same; what is read besides is not.
constexpr std::uint64_t kMergeGap = 8 << 10, kLargestRead = 8 << 20;

/// As a disk cache keeps it. No header has a line's end.
std::string text_of(const HttpVersion& version) {
  return fmt::format("{}\n{}\n{}", version.etag, version.last_modified, version.id);
}

HttpVersion version_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  lines.resize(3);
  return {lines[0], lines[1], lines[2]};
}

RequestCost http_cost() { return {kMergeGap, kLargestRead, true}; }

class HttpObject : public Object {
 public:
  /// request: the one that opened it.
  HttpObject(const HttpRequest& request, std::uint64_t size, HttpVersion version,
             std::vector<std::byte> head)
      : url_(request.url),
        name_(request.name),
        s3_(request.s3),
        size_(size),
        version_(std::move(version)),
        head_(std::move(head)) {}

  std::uint64_t size_bytes() const override { return size_; }
  std::string describe() const override { return name_; }
  std::string identity() const override {
    if (!version_.id.empty()) return version_.id;
    return version_.etag.empty() ? version_.last_modified : version_.etag;
  }
  RequestCost cost() const override { return http_cost(); }

  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    await_read([&](const ReadDone& done) { start_read(offset, dst, done); });
  }

  void start_read(std::uint64_t offset, std::span<std::byte> dst,
                  const ReadDone& done) const override {
    if (offset > size_ || dst.size() > size_ - offset) {
      done(std::make_exception_ptr(Error(
          ErrorCode::corrupt,
          fmt::format("{}: {} bytes wanted at {}, it has {}", name_, dst.size(), offset, size_))));
      return;
    }
    if (dst.empty() || offset + dst.size() <= head_.size()) {
      if (!dst.empty()) std::memcpy(dst.data(), head_.data() + offset, dst.size());
      done(nullptr);
      return;
    }
    HttpRequest request;
    request.url = url_;
    request.name = name_;
    request.s3 = s3_;
    request.range = {offset, dst.size(), false, size_, version_};
    request.dst = dst;
    request.done = [done](const HttpAnswer&, std::exception_ptr failure) { done(failure); };
    HttpReactor::shared().start(std::move(request));
  }

 private:
  std::string url_, name_;
  std::shared_ptr<const S3Access> s3_;
  std::uint64_t size_;
  HttpVersion version_;
  std::vector<std::byte> head_;
};

/// Objects that were opened last. Safe from any thread.
class KeptObjects {
 public:
  std::shared_ptr<const Object> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second;
  }
  void keep(const std::string& key, std::shared_ptr<const Object> object) {
    const std::lock_guard lock(mutex_);
    if (places_.contains(key)) return;
    recent_.emplace_front(key, std::move(object));
    places_[key] = recent_.begin();
    if (recent_.size() <= kKeptObjects) return;
    places_.erase(recent_.back().first);
    recent_.pop_back();
  }
  /// Whether the caller is to open the object with so many bytes of its end; else another one does so
  /// now, and calls `done`, too.
  bool opens(const std::string& key, std::size_t tail_bytes, const OpenDone& done) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_first] = opening_.try_emplace({key, tail_bytes});
    if (!is_first) place->second.push_back(done);
    return is_first;
  }
  /// What the one that opened it got; for all others that wait for it, or ask soon after.
  void opened(const std::string& key, std::size_t tail_bytes, const OpenedTail& opened,
              const std::exception_ptr& failure) {
    std::vector<OpenDone> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting = std::move(opening_.extract({key, tail_bytes}).mapped());
      if (opened.object) keep_tail({key, tail_bytes}, opened.tail);
    }
    for (const OpenDone& done : waiting) done(opened, failure);
  }
  /// The last bytes of an object that was opened a moment ago; nothing of others.
  std::optional<std::vector<std::byte>> tail_of(const std::string& key, std::size_t tail_bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = tails_.find({key, tail_bytes});
    return found == tails_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The server states nothing by which a replaced object is told. For `say`, since threads that take
  /// answers don't log.
  void note_unpinned(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (!said_) unpinned_ = name;
  }
  /// Once.
  void say() {
    std::string name;
    {
      const std::lock_guard lock(mutex_);
      name.swap(unpinned_);
      said_ |= !name.empty();
    }
    if (name.empty()) return;
    log::warning(
        "{}: the server states neither ETag nor Last-Modified, so it is not noticed when an object "
        "is replaced while it is read",
        name);
  }

  const pid_t process = getpid();  ///< where it was made

 private:
  using KeyAndBytes = std::pair<std::string, std::size_t>;

  void keep_tail(const KeyAndBytes& which, const std::vector<std::byte>& tail) {
    const auto [place, is_new] = tails_.try_emplace(which);
    if (is_new) tail_order_.push_back(which);
    kept_tail_bytes_ +=
        tail.size() - place->second.size();  // of another version, where one was there
    place->second = tail;
    while (kept_tail_bytes_ > kKeptTailBytes) {
      const auto oldest = tails_.find(tail_order_.front());
      kept_tail_bytes_ -= oldest->second.size();
      tails_.erase(oldest);
      tail_order_.pop_front();
    }
  }

  using Recent = std::list<std::pair<std::string, std::shared_ptr<const Object>>>;
  std::mutex mutex_;
  Recent recent_;
  std::string unpinned_;
  bool said_ = false;
  std::map<std::string, Recent::iterator> places_;
  std::map<KeyAndBytes, std::vector<OpenDone>> opening_;
  std::map<KeyAndBytes, std::vector<std::byte>> tails_;
  std::list<KeyAndBytes> tail_order_;  ///< the oldest first
  std::size_t kept_tail_bytes_ = 0;
};

class HttpStore : public Store {
 public:
  HttpStore(const Place& place, bool disk_cache) : place_(place), disk_cache_(disk_cache) {
    check_host_is_named(place, place.describe());
    S3Site site = is_s3(place) ? s3_site(place) : S3Site{place, nullptr};
    base_ = std::move(site.base);
    s3_ = std::move(site.access);
  }

  std::shared_ptr<const Object> open(const std::string& key) const override {
    OpenedTail found;
    await_read([&](const ReadDone& done) {
      start_open(key, 0, [&found, done](OpenedTail opened, std::exception_ptr failure) {
        found = std::move(opened);
        done(std::move(failure));
      });
    });
    return found.object;
  }

  void start_open(const std::string& key, std::size_t tail_bytes,
                  const OpenDone& done) const override {
    check_key(key);
    const auto kept = this->kept();
    kept->say();
    if (auto object = kept->find(key)) {
      if (auto tail = kept->tail_of(key, tail_bytes)) return done({object, std::move(*tail)}, {});
      read_tail(std::move(object), tail_bytes, done);
      return;
    }
    const bool from_end = tail_bytes > 0;
    // Batches that are begun together want the same index.
    if (from_end && !kept->opens(key, tail_bytes, done)) return;
    const OpenDone all_done =
        !from_end ? done
                  : [done, kept, key, tail_bytes](OpenedTail opened, std::exception_ptr failure) {
                      kept->opened(key, tail_bytes, opened, failure);
                      done(std::move(opened), failure);
                    };
    try {
      ask_for(key, tail_bytes, kept, all_done);
    } catch (...) {
      if (from_end) kept->opened(key, tail_bytes, {}, std::current_exception());
      throw;
    }
  }

  std::shared_ptr<const Object> known(const std::string& key, std::uint64_t size_bytes,
                                      const std::string& identity) const override {
    check_key(key);
    auto cache = disk_cache();
    if (!cache) return nullptr;
    HttpRequest request;
    name(request, key);
    const auto kept = cache->version_of({request.url, size_bytes, identity});
    if (!kept) return nullptr;
    const HttpVersion version = version_of(*kept);
    return on_disk(
        *cache, request.url,
        std::make_shared<HttpObject>(request, size_bytes, version, std::vector<std::byte>()),
        version, false);
  }

  RequestCost cost() const override { return http_cost(); }
  void put(const std::string& key, std::span<const std::byte>) override { refuse(key); }
  void erase(const std::string& key) override { refuse(key); }
  std::vector<std::string> list(const std::string& prefix) const override {
    fail(ErrorCode::unsupported, "{}: what lies at a URL can't be listed; copy it to a folder",
         describe(prefix));
  }
  bool can_list() const override { return false; }
  std::string describe(const std::string& key) const override {
    return place_.join(key).describe();
  }

 private:
  /// One request, which opens the object.
  void ask_for(const std::string& key, std::size_t tail_bytes,
               const std::shared_ptr<KeptObjects>& kept, const OpenDone& done) const {
    const auto cache = disk_cache();
    const bool from_end = tail_bytes > 0;
    auto bytes = std::make_shared<std::vector<std::byte>>(from_end ? tail_bytes : kHeadBytes);
    HttpRequest request;
    name(request, key);
    request.range = {0, bytes->size(), from_end, std::nullopt, {}};
    request.dst = *bytes;
    request.done = [done, bytes, from_end, key, asked = request, kept, cache](
                       const HttpAnswer& answer, std::exception_ptr failure) {
      if (failure || answer.absent) {
        done({}, failure);
        return;
      }
      bytes->resize(answer.bytes);
      OpenedTail opened;
      opened.object = std::make_shared<HttpObject>(asked, answer.size, answer.version,
                                                   from_end ? std::vector<std::byte>() : *bytes);
      if (cache && answer.size > kHeadBytes)
        opened.object = on_disk(*cache, asked.url, std::move(opened.object), answer.version, true);
      if (answer.version.etag.empty() && answer.version.last_modified.empty())
        kept->note_unpinned(asked.name);
      // Small objects are metadata, of which a new one may come; others are read again and again.
      if (from_end || answer.size > kHeadBytes) kept->keep(key, opened.object);
      if (from_end) opened.tail = std::move(*bytes);
      done(std::move(opened), nullptr);
    };
    HttpReactor::shared().start(std::move(request));
  }

  std::optional<DiskCache> disk_cache() const {
    return disk_cache_ ? DiskCache::of_this_process() : std::nullopt;
  }

  /// Of an object whose content a name of its own tells; others are not kept.
  static std::shared_ptr<const Object> on_disk(const DiskCache& cache, const std::string& url,
                                               std::shared_ptr<const Object> object,
                                               const HttpVersion& version, bool was_asked) {
    if (version.id.empty() && version.etag.empty()) return object;
    const DiskCacheKey key{url, object->size_bytes(), object->identity()};
    return cache.with_cache(std::move(object), key, text_of(version), was_asked);
  }

  void name(HttpRequest& request, const std::string& key) const {
    request.url = base_.join(percent_encoded(key)).describe();
    request.name = describe(key);
    request.s3 = s3_;
  }

  static void check_key(const std::string& key) {
    const std::string framed = "/" + key + "/";
    if (key.empty() || framed.find("//") != std::string::npos ||
        framed.find("/../") != std::string::npos || framed.find("/./") != std::string::npos)
      fail(ErrorCode::usage, "'{}' is no key of a store", key);
  }

  static void read_tail(std::shared_ptr<const Object> object, std::size_t tail_bytes,
                        const OpenDone& done) {
    const std::uint64_t size = object->size_bytes();
    auto tail = std::make_shared<std::vector<std::byte>>(
        static_cast<std::size_t>(std::min<std::uint64_t>(tail_bytes, size)));
    const Object& opened = *object;
    opened.start_read(size - tail->size(), *tail,
                      [done, object = std::move(object), tail](std::exception_ptr failure) {
                        done({failure ? nullptr : object, std::move(*tail)}, failure);
                      });
  }

  /// Of this process: a fork may have those of its parent locked.
  std::shared_ptr<KeptObjects> kept() const {
    auto kept = kept_.load();
    if (kept->process == getpid()) return kept;
    kept_.compare_exchange_strong(kept, std::make_shared<KeptObjects>());
    return kept_.load();
  }

  [[noreturn]] void refuse(const std::string& key) const {
    fail(ErrorCode::unsupported, "{}: a store at a URL is read, not written; write into a folder",
         describe(key));
  }

  Place place_, base_;  ///< as it was named, and as requests see it
  bool disk_cache_;
  std::shared_ptr<const S3Access> s3_;
  mutable std::atomic<std::shared_ptr<KeptObjects>> kept_{std::make_shared<KeptObjects>()};
};

}  // namespace

std::shared_ptr<Store> open_http_store(const Place& place, bool disk_cache) {
  return std::make_shared<HttpStore>(place, disk_cache);
}

}  // namespace headrace::storage
