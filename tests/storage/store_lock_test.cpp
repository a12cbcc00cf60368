#include "headrace/storage/store_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "headrace/storage/local_store.hpp"
#include "headrace/storage/lock_file.hpp"
#include "tests/storage/lock_fixture.hpp"

namespace headrace::storage {
namespace {

namespace fs = std::filesystem;

class StoreLockTest : public LockFixture {
 protected:
  static std::string refusal(const std::string& path) {
    return refusal_of([&] { const StoreLock lock(path); });
  }
};

TEST_F(StoreLockTest, ASecondWriterIsKeptOut) {
  const std::string path = folder_.path("store");
  {
    const StoreLock lock(path);
    EXPECT_NE(refusal(path).find("another run is writing here"), std::string::npos);
    EXPECT_TRUE(fs::exists(path)) << "it is not the refused one's to remove";
  }
  EXPECT_EQ(refusal(path), "locked");
}

TEST_F(StoreLockTest, LeavesNothingButWhatWasStored) {
  const std::string path = folder_.path("store");
  { const StoreLock lock(path); }
  EXPECT_FALSE(fs::exists(path));
  {
    const StoreLock lock(path);
    LocalStore(path).put_text("a", "1");
  }
  EXPECT_TRUE(fs::exists(path + "/a"));
  EXPECT_FALSE(fs::exists(path + "/.lock"));
  fs::remove(path + "/a");
  { const StoreLock lock(path); }
  EXPECT_TRUE(fs::is_directory(path)) << "it was there before";
}

TEST_F(StoreLockTest, IsNoKeyOfTheStore) {
  const std::string path = folder_.path("store");
  const StoreLock lock(path);
  LocalStore store(path);
  store.put_text("a/.lock", "1");
  EXPECT_EQ(store.list(""), (std::vector<std::string>{"a/.lock"}));
  store.remove_leftovers();
  EXPECT_NE(refusal(path), "locked");
}

TEST_F(StoreLockTest, AKilledWriterReleasesIt) {
  const std::string path = folder_.path("store");
  const pid_t child = fork();
  if (child == 0) {
    const StoreLock lock(path);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::exists(path + "/.lock"));
  EXPECT_EQ(LocalStore(path).list(""), std::vector<std::string>());
  EXPECT_EQ(refusal(path), "locked");
  EXPECT_FALSE(fs::exists(path + "/.lock"));
}

TEST_F(StoreLockTest, AFolderThatAnEndingRunRemovesIsMadeAgain) {
  static std::string path;
  path = folder_.path("store");
  const int rounds = 2;
  static int calls;
  calls = 0;
  auto& open = posix::calls().open;
  static auto real = open;
  open = [](const char* file, int flags, mode_t mode) {
    if (++calls <= rounds) fs::remove_all(path);
    return real(file, flags, mode);
  };
  EXPECT_EQ(refusal(path), "locked");
  calls = -1000;  // removed each time
  open = [](const char* file, int flags, mode_t mode) {
    fs::remove_all(path);
    return real(file, flags, mode);
  };
  EXPECT_NE(refusal(path).find("is removed again and again"), std::string::npos);
  open = real;
}

/// Members of a group that share a store, as far as their umask lets them.
TEST_F(StoreLockTest, TheFileIsNotItsMakersAlone) {
  const mode_t before = umask(002);
  const std::string path = folder_.path("store");
  const StoreLock lock(path);
  umask(before);
  const auto allowed = fs::status(path + "/.lock").permissions();
  EXPECT_NE(allowed & fs::perms::group_write, fs::perms::none);
}

/// As NFS does: a lock needs a descriptor that is open to be written.
TEST_F(StoreLockTest, WhatIsLockedIsOpenForWriting) {
  flock_call() = [](int fd, int operation) {
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) return errno = EBADF, -1;
    return ::flock(fd, operation);
  };
  EXPECT_EQ(refusal(folder_.path("store")), "locked");
}

TEST_F(StoreLockTest, AFileSystemWithoutLocksIsRefusedAndNothingIsLeft) {
  flock_call() = [](int, int) { return errno = ENOLCK, -1; };
  EXPECT_NE(refusal(folder_.path("a/store")).find("its file system has no locks"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder_.path("a/store")));
}

}  // namespace
}  // namespace headrace::storage
