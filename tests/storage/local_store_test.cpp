#include "headrace/storage/local_store.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "headrace/core/posix.hpp"
#include "tests/core/error_of.hpp"
#include "tests/storage/store_contract.hpp"
#include "tests/storage/test_folder.hpp"

namespace headrace::storage {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<Store> make_store() {
  static std::vector<std::unique_ptr<TestFolder>> folders;
  folders.push_back(std::make_unique<TestFolder>());
  return std::make_shared<LocalStore>(folders.back()->path() / "not" / "yet" / "there");
}

// Two descriptors at most: the contract must hold while descriptors are closed all the time.
std::shared_ptr<Store> make_small_store() {
  static std::vector<std::unique_ptr<TestFolder>> folders;
  folders.push_back(std::make_unique<TestFolder>());
  return std::make_shared<LocalStore>(folders.back()->path(), 1);
}

INSTANTIATE_TEST_SUITE_P(Local, StoreContract, ::testing::Values(make_store, make_small_store));

// Puts the real system calls back.
class LocalStoreFaults : public ::testing::Test {
 protected:
  LocalStoreFaults() : store_(folder_.path()) { store_.put("seed/k", bytes_of("before")); }
  ~LocalStoreFaults() override { posix::calls() = real_; }

  posix::Calls real_ = posix::calls();
  TestFolder folder_;
  LocalStore store_;
};

int interruptions = 0;

TEST_F(LocalStoreFaults, InterruptedCallsAreRepeated) {
  interruptions = 0;
  posix::calls().pread = [](int fd, void* dst, std::size_t count, off_t offset) -> ssize_t {
    if (++interruptions % 2 == 1) return errno = EINTR, -1;
    return ::pread(fd, dst, count, offset);
  };
  posix::calls().write = [](int fd, const void* src, std::size_t count) -> ssize_t {
    if (++interruptions % 2 == 1) return errno = EINTR, -1;
    return ::write(fd, src, count);
  };
  posix::calls().fsync = [](int fd) {
    if (++interruptions % 2 == 1) return errno = EINTR, -1;
    return ::fsync(fd);
  };
  posix::calls().open = [](const char* path, int flags, mode_t mode) {
    if (++interruptions % 2 == 1) return errno = EINTR, -1;
    return ::open(path, flags, mode);
  };
  store_.put("a/k", bytes_of("text"));
  EXPECT_EQ(store_.get_text("a/k"), "text");
  EXPECT_GE(interruptions, 8);
}

TEST_F(LocalStoreFaults, ShortReadsAndWritesAreContinued) {
  posix::calls().pread = [](int fd, void* dst, std::size_t, off_t offset) {
    return ::pread(fd, dst, 1, offset);
  };
  posix::calls().write = [](int fd, const void* src, std::size_t) { return ::write(fd, src, 1); };
  const std::string text(1000, 'x');
  store_.put("k", bytes_of(text));
  EXPECT_EQ(store_.get_text("k"), text);
}

TEST_F(LocalStoreFaults, AFullDiskIsSaidInOneSentenceAndLeavesNothing) {
  posix::calls().write = [](int, const void*, std::size_t) -> ssize_t {
    return errno = ENOSPC, -1;
  };
  const std::string text =
      error_of(ErrorCode::io, [&] { store_.put("seed/k", bytes_of("after")); });
  EXPECT_NE(text.find("disk full while writing seed/k"), std::string::npos) << text;
  EXPECT_EQ(folder_.files(), 1U);
  EXPECT_EQ(store_.get_text("seed/k"), "before");
}

TEST_F(LocalStoreFaults, EveryStepOfAWriteThatFailsLeavesTheOldObject) {
  const auto expect_failure = [&](const char* step) {
    error_of(ErrorCode::io, [&] { store_.put("seed/k", bytes_of("after")); });
    posix::calls() = real_;
    EXPECT_EQ(store_.get_text("seed/k"), "before") << step;
    EXPECT_EQ(folder_.files(), 1U) << step;
  };
  posix::calls().open = [](const char* path, int flags, mode_t mode) {
    if ((flags & O_CREAT) != 0) return errno = EACCES, -1;
    return ::open(path, flags, mode);
  };
  expect_failure("open");
  posix::calls().fsync = [](int) { return errno = EIO, -1; };
  expect_failure("fsync");
  posix::calls().rename = [](const char*, const char*) { return errno = EIO, -1; };
  expect_failure("rename");
  posix::calls().close = [](int fd) {
    ::close(fd);
    return errno = ENOSPC, -1;
  };
  expect_failure("close");
}

TEST_F(LocalStoreFaults, AWriterKilledBeforeTheRenameLeavesTheOldObjectAndOneLeftover) {
  const pid_t child = ::fork();
  if (child == 0) {
    posix::calls().rename = [](const char*, const char*) -> int { ::_exit(7); };
    store_.put("seed/k", bytes_of("after"));
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(store_.get_text("seed/k"), "before");
  EXPECT_EQ(store_.list(""), std::vector<std::string>{"seed/k"});
  EXPECT_EQ(folder_.files(), 2U);
  EXPECT_EQ(store_.remove_leftovers(), 1U);
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(LocalStoreFaults, AReadErrorNamesTheFileAndTheBytes) {
  const auto object = store_.open("seed/k");
  posix::calls().pread = [](int, void*, std::size_t, off_t) -> ssize_t { return errno = EIO, -1; };
  std::vector<std::byte> part(2);
  const std::string text = error_of(ErrorCode::io, [&] { object->read(3, part); });
  EXPECT_NE(text.find("seed/k"), std::string::npos) << text;
  EXPECT_NE(text.find("3 to 5"), std::string::npos) << text;
}

TEST_F(LocalStoreFaults, FilesThatCannotBeOpenedAreAnErrorNotMissing) {
  posix::calls().open = [](const char*, int, mode_t) { return errno = EACCES, -1; };
  EXPECT_NE(error_of(ErrorCode::io, [&] { store_.open("other"); }).find("other"),
            std::string::npos);
}

TEST_F(LocalStoreFaults, RunningOutOfDescriptorsClosesThoseThatAreKept) {
  static int refusals;
  refusals = 0;
  posix::calls().open = [](const char* path, int flags, mode_t mode) {
    if (refusals++ == 0) return errno = EMFILE, -1;
    return ::open(path, flags, mode);
  };
  EXPECT_EQ(store_.get_text("seed/k"), "before");
  EXPECT_EQ(refusals, 2);
}

TEST(LocalStore, KeepsNoMoreDescriptorsThanItWasGiven) {
  TestFolder folder;
  LocalStore store(folder.path(), 4);
  for (int i = 0; i < 20; ++i) store.put(std::to_string(i), bytes_of("x"));
  const auto count_open = [] {
    const fs::directory_iterator entries("/proc/self/fd");
    return std::distance(fs::begin(entries), fs::end(entries));
  };
  const auto before = count_open();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(store.exists(std::to_string(i)));
  EXPECT_EQ(count_open(), before + 4);
}

}  // namespace
}  // namespace headrace::storage
