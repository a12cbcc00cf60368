#include "headrace/storage/disk_cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/of_this_process.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/storage/await_read.hpp"
#include "headrace/storage/disk_cache_file.hpp"
#include "headrace/storage/disk_cache_folder.hpp"
#include "headrace/storage/disk_cache_work.hpp"
#include "headrace/storage/network_options.hpp"

namespace headrace::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kOpenFiles = 256;
constexpr std::chrono::minutes kTouchAgain{2};

struct LiveDiskCounters {
  std::atomic<std::uint64_t> ranges{0}, bytes{0}, damaged{0}, not_kept{0};
};
LiveDiskCounters counters;

std::string name_of(const DiskCacheKey& key) {
  return sha256_hex(fmt::format("{}\n{}\n{}", key.url, key.size_bytes, key.identity));
}

}  // namespace

/// Of one folder.
struct DiskCache::State {
  explicit State(const CacheOptions& wanted)
      : options(wanted), folder(wanted.folder, static_cast<std::uint64_t>(wanted.size_gb * 1e9)) {}

  /// Of this process: a fork has no threads of its parent's.
  static std::shared_ptr<State> here(const std::shared_ptr<State>& state);
  static std::shared_ptr<State> of(const CacheOptions& wanted);

  struct Open {
    std::shared_ptr<const DiskCacheFile> file;
    Clock::time_point touched;
    std::uint64_t used;  ///< the largest was used last
  };

  /// The file of an object; made where there is none, if `facts` are given. Null: there is none.
  std::shared_ptr<const DiskCacheFile> file_of(const std::string& name,
                                               const DiskCacheFile::Facts* facts) {
    if (auto file = opened(name)) return file;
    auto file = DiskCacheFile::open(folder.path_of(name));
    const int error = file ? 0 : errno;
    if (facts != nullptr) {
      const bool is_useless = error == EBADMSG || (file && file->facts() != *facts);
      if (is_useless) folder.remove(name);
      if (is_useless || error == ENOENT) {
        file = made(name, *facts);
      } else {
        failed(error);
      }
    }
    return file ? keep_open(name, std::move(file)) : nullptr;
  }

  void drop(const std::string& name) {
    const std::lock_guard lock(mutex);
    open.erase(name);
    folder.remove(name);
  }

  void keep(const std::string& name, const DiskCacheFile& file, std::uint64_t offset,
            std::span<const std::byte> bytes) {
    if (!folder.admit(bytes.size())) {
      ++counters.not_kept;
      failed(ENOSPC);
      return;
    }
    if (const int error = file.keep(offset, bytes)) {
      ++counters.not_kept;
      failed(error);
      if (error != ENOSPC && error != EDQUOT) drop(name);
    }
  }

  /// The object of this file is another one by now: what is kept of others has to be asked for, too.
  void replaced(const std::string& name) {
    drop(name);
    folder.note_replaced();
  }

  /// For `say`: the threads here don't log.
  void failed(int error) {
    int none = 0;
    if (error != 0) failure.compare_exchange_strong(none, error);
  }

  /// Once.
  void say() {
    const int error = failure.load(std::memory_order_relaxed);
    if (error == 0 || said.exchange(true)) return;
    const std::string why =
        error == ENOSPC
            ? fmt::format("it holds {:g} GB, or the disk has little room", options.size_gb)
        : error == EACCES ? std::string("it has files of another user")
                          : posix::describe_errno(error);
    log::warning("{}: no more ranges are kept there: {}; they are read from the server each time",
                 folder.folder().string(), why);
  }

  const pid_t process = getpid();
  const CacheOptions options;
  DiskCacheFolder folder;
  DiskCacheWork work;

 private:
  /// Null: there is no room for it, or the disk fails.
  std::shared_ptr<const DiskCacheFile> made(const std::string& name,
                                            const DiskCacheFile::Facts& facts) {
    if (!folder.admit(0)) {
      failed(ENOSPC);
      return nullptr;
    }
    auto file = DiskCacheFile::create(folder.path_of(name), facts);
    if (!file) failed(errno);
    return file;
  }

  /// That is open, and was not removed by another process.
  std::shared_ptr<const DiskCacheFile> opened(const std::string& name) {
    const std::lock_guard lock(mutex);
    const auto found = open.find(name);
    if (found == open.end()) return nullptr;
    Open& entry = found->second;
    entry.used = ++uses;
    if (const auto now = Clock::now(); now - entry.touched > kTouchAgain) {
      entry.touched = now;
      entry.file->touch();  // for other processes alone
    }
    if (entry.file->confirmed_s()) return entry.file;
    open.erase(found);
    return nullptr;
  }

  std::shared_ptr<const DiskCacheFile> keep_open(const std::string& name,
                                                 std::shared_ptr<const DiskCacheFile> file) {
    folder.use(name);
    file->touch();
    const std::lock_guard lock(mutex);
    if (open.size() >= kOpenFiles) {
      open.erase(std::min_element(open.begin(), open.end(), [](const auto& a, const auto& b) {
        return a.second.used < b.second.used;
      }));
    }
    return open.insert_or_assign(name, Open{std::move(file), Clock::now(), ++uses})
        .first->second.file;
  }

  std::mutex mutex;
  std::map<std::string, Open> open;
  std::uint64_t uses = 0;
  std::atomic<int> failure{0};
  std::atomic<bool> said{false};
};

namespace {

/// Never destroyed: their threads go on until the process ends.
struct Caches {
  const pid_t process = getpid();
  std::mutex mutex;
  std::map<std::pair<std::string, double>, std::shared_ptr<DiskCache::State>> by_place;
};
std::atomic<Caches*> the_caches{nullptr};

constexpr std::chrono::seconds kAtTheEnd{5};

}  // namespace

std::shared_ptr<DiskCache::State> DiskCache::State::of(const CacheOptions& wanted) {
  Caches& caches = headrace::of_this_process(the_caches, [] {
    // What was read at the end of a program is kept, too.
    static const int registered = std::atexit([] { DiskCache::drain(kAtTheEnd); });
    static_cast<void>(registered);
    return std::make_unique<Caches>();
  });
  const std::lock_guard lock(caches.mutex);
  const std::pair place{wanted.folder, wanted.size_gb};
  const auto found = caches.by_place.find(place);
  if (found != caches.by_place.end()) return found->second;
  return caches.by_place.emplace(place, std::make_shared<State>(wanted)).first->second;
}

std::shared_ptr<DiskCache::State> DiskCache::State::here(const std::shared_ptr<State>& state) {
  return state->process == getpid() ? state : of(state->options);
}

namespace {

class ObjectOnDisk : public Object, public std::enable_shared_from_this<ObjectOnDisk> {
 public:
  /// was_asked: the server has answered for this version just now.
  ObjectOnDisk(std::shared_ptr<DiskCache::State> cache, std::shared_ptr<const Object> inner,
               std::string name, const std::string& version, bool was_asked)
      : cache_(std::move(cache)),
        inner_(std::move(inner)),
        name_(std::move(name)),
        facts_{inner_->size_bytes(), version},
        to_confirm_(was_asked) {}

  std::uint64_t size_bytes() const override { return inner_->size_bytes(); }
  std::string describe() const override { return inner_->describe(); }
  std::string identity() const override { return inner_->identity(); }
  RequestCost cost() const override { return inner_->cost(); }

  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    await_read([&](const ReadDone& done) { start_read(offset, dst, done); });
  }

  void start_read(std::uint64_t offset, std::span<std::byte> dst,
                  const ReadDone& done) const override {
    const std::uint64_t size = facts_.size_bytes;
    if (dst.empty() || offset > size || dst.size() > size - offset)
      return inner_->start_read(offset, dst, done);
    const auto cache = DiskCache::State::here(cache_);
    cache->say();
    cache->work.read([self = shared_from_this(), cache, offset, dst, done] {
      try {
        self->read_here(cache, offset, dst, done);
      } catch (...) {
        done(std::current_exception());
      }
    });
  }

 private:
  using Pages = std::shared_ptr<std::vector<std::byte>>;
  using Cache = std::shared_ptr<DiskCache::State>;

  void read_here(const Cache& cache, std::uint64_t offset, std::span<std::byte> dst,
                 const ReadDone& done) const {
    constexpr std::uint64_t kPage = DiskCacheFile::kPageBytes;
    const std::uint64_t first = offset / kPage * kPage;
    const std::uint64_t last =
        std::min((offset + dst.size() + kPage - 1) / kPage * kPage, facts_.size_bytes);
    const auto pages = std::make_shared<std::vector<std::byte>>(last - first);
    const auto take = [pages, dst, from = offset - first] {
      std::memcpy(dst.data(), pages->data() + from, dst.size());
    };
    const auto file = cache->file_of(name_, &facts_);
    if (file && to_confirm_.exchange(false)) file->confirm();
    const auto found =
        file ? file->read(first, *pages) : DiskCacheFile::Found{{first, last - first}, false};
    if (found.damaged) ++counters.damaged;
    const ByteRun missing = found.missing;
    if (missing.count == 0) {
      take();
      ++counters.ranges;
      counters.bytes += dst.size();
      return done(nullptr);
    }
    const auto part = std::span(*pages).subspan(missing.offset - first, missing.count);
    inner_->start_read(missing.offset, part,
                       [self = shared_from_this(), cache, file, pages, part, missing, take,
                        done](std::exception_ptr failure) {
                         if (failure) {
                           if (is_corrupt(failure)) cache->replaced(self->name_);
                         } else {
                           take();
                           keep(cache, self->name_, file, pages, part, missing.offset);
                         }
                         done(std::move(failure));
                       });
  }

  /// Never throws: it runs where answers end. file: null where none could be made.
  static void keep(const Cache& cache, const std::string& name,
                   const std::shared_ptr<const DiskCacheFile>& file, const Pages& pages,
                   std::span<std::byte> part, std::uint64_t offset) noexcept {
    try {
      if (file && cache->work.write(part.size(), [cache, name, file, pages, part, offset] {
            try {
              cache->keep(name, *file, offset, part);
            } catch (const std::exception&) {  // no memory for it
              ++counters.not_kept;
            }
          }))
        return;
    } catch (const std::bad_alloc&) {  // is not kept
    }
    ++counters.not_kept;
  }

  static bool is_corrupt(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      return error.code() == ErrorCode::corrupt;
    } catch (...) {
      return false;
    }
  }

  Cache cache_;
  std::shared_ptr<const Object> inner_;
  std::string name_;
  DiskCacheFile::Facts facts_;
  mutable std::atomic<bool> to_confirm_;
};

}  // namespace

void DiskCache::check(const CacheOptions& wanted) {
  if (!wanted.folder.empty()) State::of(wanted);
}

void DiskCache::drain(std::chrono::milliseconds most) {
  Caches* caches = the_caches.load();
  if (caches == nullptr || caches->process != getpid()) return;
  const std::unique_lock lock(caches->mutex, std::try_to_lock);  // a program may end anywhere
  if (!lock) return;
  for (const auto& [place, state] : caches->by_place) state->work.drain(most);
}

std::optional<DiskCache> DiskCache::of_this_process() {
  const CacheOptions options = network()->cache;
  if (options.folder.empty()) return std::nullopt;
  return DiskCache(State::of(options));
}

std::optional<std::string> DiskCache::version_of(const DiskCacheKey& key) const {
  const auto file = state_->file_of(name_of(key), nullptr);
  if (!file || file->facts().size_bytes != key.size_bytes) return std::nullopt;
  const auto confirmed = file->confirmed_s();
  if (!confirmed || *confirmed <= state_->folder.replaced_s()) return std::nullopt;
  return file->facts().version;
}

std::shared_ptr<const Object> DiskCache::with_cache(std::shared_ptr<const Object> object,
                                                    const DiskCacheKey& key,
                                                    const std::string& version,
                                                    bool was_asked) const {
  return std::make_shared<ObjectOnDisk>(state_, std::move(object), name_of(key), version,
                                        was_asked);
}

DiskCounters disk_counters() {
  return {counters.ranges, counters.bytes, counters.damaged, counters.not_kept};
}

}  // namespace headrace::storage
