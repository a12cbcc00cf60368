#include "headrace/storage/disk_cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/storage/disk_cache_file.hpp"
#include "headrace/storage/disk_cache_folder.hpp"
#include "headrace/storage/network_options.hpp"
#include "tests/storage/test_folder.hpp"

namespace headrace::storage {
namespace {

using Bytes = std::vector<std::byte>;

Bytes some_bytes(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// An object of a server, which counts what is asked of it.
class Remote : public Object {
 public:
  explicit Remote(Bytes content) : bytes(std::move(content)) {}
  std::uint64_t size_bytes() const override { return bytes.size(); }
  std::string describe() const override { return "https://site/object"; }
  std::string identity() const override { return "\"etag\""; }
  RequestCost cost() const override { return {0, 1 << 20, true}; }
  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    ++requests;
    asked += dst.size();
    if (replaced) fail(ErrorCode::corrupt, "replaced");
    std::memcpy(dst.data(), bytes.data() + offset, dst.size());
  }

  Bytes bytes;
  bool replaced = false;
  mutable std::atomic<std::uint64_t> requests{0}, asked{0};
};

const DiskCacheKey kKey{"https://site/object", 300'001, "\"etag\""};

/// Until what is kept was written, which nobody waits for.
void until(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000 && !holds(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(holds());
}

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() { wanted(100); }
  ~DiskCacheTest() override {
    DiskCache::drain(std::chrono::seconds(10));  // the next test may replace the system's calls
    use_cache({});
  }
  void wanted(double size_gb) { set_network({.cache = {folder_.path().string(), size_gb}}); }
  std::shared_ptr<const Object> kept(const std::shared_ptr<const Remote>& remote) const {
    return DiskCache::of_this_process()->with_cache(remote, kKey, "version", true);
  }
  bool right(const Object& object, std::uint64_t offset, std::size_t count) const {
    Bytes got(count);
    object.read(offset, got);
    return std::equal(got.begin(), got.end(),
                      remote_->bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  /// Reads the range until it is kept.
  void fill(const Object& object, std::uint64_t offset, std::size_t count) {
    until([&] {
      const auto before = remote_->requests.load();
      EXPECT_TRUE(right(object, offset, count));
      return remote_->requests == before;
    });
  }
  std::string file() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      return entry.path().string();
    return {};
  }

  TestFolder folder_;
  RealCallsAfterwards real_;
  std::shared_ptr<Remote> remote_ = std::make_shared<Remote>(some_bytes(300'001));
};

TEST_F(DiskCacheTest, GivesTheBytesOfTheObjectAndAsksForEachPageOnce) {
  const auto object = kept(remote_);
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t offset = random() % 300'001;
    const std::size_t count = std::min<std::uint64_t>(random() % 20'000, 300'001 - offset);
    EXPECT_TRUE(right(*object, offset, count));
  }
  fill(*object, 0, 300'001);
  const DiskCounters before = disk_counters();
  const auto requests = remote_->requests.load();
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t offset = random() % 300'000;
    EXPECT_TRUE(right(*object, offset, 1 + random() % (300'001 - offset)));
  }
  EXPECT_EQ(remote_->requests, requests);
  EXPECT_EQ((disk_counters() - before).ranges, 500U);
  EXPECT_EQ(*DiskCache::of_this_process()->version_of(kKey), "version");
  EXPECT_FALSE(DiskCache::of_this_process()->version_of({kKey.url, kKey.size_bytes, "other"}));
}

TEST_F(DiskCacheTest, AsksForTheMissingPartAlone) {
  const auto object = kept(remote_);
  fill(*object, 0, 100 << 10);
  const auto asked = remote_->asked.load();
  EXPECT_TRUE(right(*object, 50 << 10, 60 << 10));
  EXPECT_EQ(remote_->asked - asked, 10U << 10);
}

TEST_F(DiskCacheTest, EveryDamagedByteIsReadAnew) {
  const auto object = kept(remote_);
  fill(*object, 0, 300'001);
  const auto size = std::filesystem::file_size(file());
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    const auto at = static_cast<std::streamoff>(random() % size);
    std::fstream raw(file(), std::ios::in | std::ios::out | std::ios::binary);
    raw.seekg(at);
    const auto changed = static_cast<char>(raw.get() ^ (1 << random() % 8));
    raw.seekp(at);
    raw.put(changed);
    raw.close();
    EXPECT_TRUE(right(*object, 0, 300'001)) << at;
  }
  EXPECT_GT(disk_counters().damaged, 0U);
}

TEST_F(DiskCacheTest, AFileWhoseHeadIsDamagedOrAnothersIsMadeAnew) {
  std::filesystem::path path;
  {
    fill(*kept(remote_), 0, 4096);
    path = file();
  }
  const auto whole = std::filesystem::file_size(path);
  for (std::streamoff at = 0; at < 64; ++at) {
    std::fstream raw(path, std::ios::in | std::ios::out | std::ios::binary);
    raw.seekg(at);
    const auto was = static_cast<char>(raw.get());
    raw.seekp(at);
    raw.put(static_cast<char>(was ^ 4));
    raw.close();
    EXPECT_EQ(DiskCacheFile::open(path.string()), nullptr) << at;
    std::fstream back(path, std::ios::in | std::ios::out | std::ios::binary);
    back.seekp(at);
    back.put(was);
  }
  ASSERT_NE(DiskCacheFile::open(path.string()), nullptr);
  for (const std::uintmax_t end : {whole - 5, std::uintmax_t{100}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(path, end);
    use_cache(
        {(folder_.path() / ".").string(), 100 + static_cast<double>(end)});  // none is open there
    fill(*kept(remote_), 0, 300'001);
    EXPECT_EQ(std::filesystem::file_size(path), whole) << end;
  }
}

TEST_F(DiskCacheTest, OfAReplacedObjectNothingIsKept) {
  const auto object = kept(remote_);
  fill(*object, 0, 4096);
  remote_->replaced = true;
  EXPECT_TRUE(right(*object, 0, 4096)) << "what it was is still known";
  Bytes got(4096);
  EXPECT_THROW(object->read(100'000, got), Error);
  EXPECT_FALSE(DiskCache::of_this_process()->version_of(kKey));
}

TEST_F(DiskCacheTest, AFullDiskIsReadPast) {
  posix::calls().pwrite = [](int, const void*, std::size_t, off_t) -> ssize_t {
    errno = ENOSPC;
    return -1;
  };
  const auto object = kept(remote_);
  const auto before = disk_counters();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(right(*object, 0, 300'001));
  until([&] { return (disk_counters() - before).not_kept >= 3; });
  EXPECT_EQ(remote_->requests, 3U);
  real_.now();
  fill(*object, 0, 300'001);
}

TEST_F(DiskCacheTest, HoldsNoMoreThanItMay) {
  wanted(0.0001);  // 100 kB
  const auto object = kept(remote_);
  for (std::uint64_t at = 0; at < 300'001; at += 10'000)
    EXPECT_TRUE(right(*object, at, std::min<std::uint64_t>(10'000, 300'001 - at)));
  until([] { return disk_counters().not_kept > 0; });
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_LE(status.st_blocks * 512, 100'000);
  EXPECT_EQ(status.st_mode & 0777, 0600U) << "it holds pixels of patients";
}

TEST_F(DiskCacheTest, ManyThreads) {
  const auto object = kept(remote_);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 200; ++i) {
        const std::uint64_t offset = random() % 290'000;
        wrong += right(*object, offset, 1 + random() % 10'000) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(DiskCacheTest, AForkedProcess) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer starts no threads in the child of a program with threads";
#endif
  const auto object = kept(remote_);
  fill(*object, 0, 300'001);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto before = remote_->requests.load();
    ::_exit(right(*object, 1000, 200'000) && remote_->requests == before ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(DiskCacheTest, AFileThatAnotherProcessRemovesIsMadeAnew) {
  const auto object = kept(remote_);
  fill(*object, 0, 4096);
  std::filesystem::remove(file());
  fill(*object, 0, 4096);
  EXPECT_FALSE(file().empty());
  const auto other = DiskCacheFile::open(file());
  const auto twice = DiskCacheFile::create(file(), other->facts());
  Bytes got(4096);
  EXPECT_EQ(twice->read(0, got).missing.count, 0U) << "what another process fills stays";
}

TEST_F(DiskCacheTest, FilesThatOthersMayWriteAreNotTaken) {
  fill(*kept(remote_), 0, 4096);
  const std::string path = file();
  std::filesystem::permissions(path, std::filesystem::perms(0666));
  EXPECT_EQ(DiskCacheFile::open(path), nullptr);
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  EXPECT_NE(DiskCacheFile::open(path), nullptr);
  std::filesystem::rename(path, path + "x");
  std::filesystem::create_symlink(path + "x", path);
  EXPECT_EQ(DiskCacheFile::open(path), nullptr);
}

TEST_F(DiskCacheTest, AfterOneReplacedObjectOthersAreAskedFor) {
  const DiskCacheKey other{"https://site/other", 300'001, "\"etag\""};
  const DiskCache cache = *DiskCache::of_this_process();
  const auto object = kept(remote_), second = cache.with_cache(remote_, other, "version", true);
  fill(*object, 0, 4096);
  fill(*second, 0, 4096);
  EXPECT_TRUE(cache.version_of(other));
  remote_->replaced = true;
  Bytes got(4096);
  EXPECT_THROW(object->read(100'000, got), Error);
  EXPECT_FALSE(cache.version_of(other));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times are of whole seconds
  remote_->replaced = false;
  EXPECT_TRUE(right(*cache.with_cache(remote_, other, "version", true), 0, 100)) << "is asked for";
  EXPECT_TRUE(cache.version_of(other));
}

TEST_F(DiskCacheTest, AFolderThatCantBeMade) {
  EXPECT_THROW(set_network({.cache = {"/proc/none/cache", 1}}), Error);
  EXPECT_EQ(network()->cache.folder, folder_.path().string());
}

TEST(DiskCacheFolder, RemovesWhatNobodyUsedTheLongestUnusedFirst) {
  TestFolder folder;
  const auto make = [&](const std::string& name, int hours_ago) {
    std::ofstream(folder / name) << std::string(100'000, 'x');
    const timespec then{std::time(nullptr) - hours_ago * 3600, 0};
    const timespec times[2] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder / name).c_str(), times, 0), 0);
  };
  const auto there = [&](const std::string& name) {
    return std::filesystem::exists(folder / name);
  };
  make("old.ranges", 5);
  make("older.ranges", 9);
  make("used.ranges", 20);
  make("foreign.txt", 90);
  make(".tmp-1-1", 90);
  DiskCacheFolder cache(folder.path(), 400'000, std::chrono::seconds(0));
  cache.use("used");
  EXPECT_TRUE(cache.admit(40'000)) << "there is room";
  EXPECT_TRUE(there("older.ranges"));
  EXPECT_FALSE(there(".tmp-1-1")) << "a killed writer's";
  DiskCacheFolder full(folder.path(), 310'000, std::chrono::seconds(0));
  full.use("used");
  EXPECT_TRUE(full.admit(40'000));
  EXPECT_FALSE(there("older.ranges"));
  EXPECT_TRUE(there("old.ranges") && there("used.ranges") && there("foreign.txt"));
  DiskCacheFolder begun(folder.path(), 150'000);
  EXPECT_FALSE(begun.admit(40'000)) << "what its run will use is not known yet";
  EXPECT_TRUE(there("old.ranges"));
}

}  // namespace
}  // namespace headrace::storage
