#include "headrace/storage/lock_file.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

#include "tests/storage/lock_fixture.hpp"

namespace headrace::storage {
namespace {

class LockFile : public LockFixture {
 protected:
  static std::string refusal(const std::string& path) {
    return refusal_of([&] { try_lock_file(path); });
  }
};

TEST_F(LockFile, OneHasItAtATime) {
  const std::string path = folder_.path("lock");
  {
    const auto mine = try_lock_file(path);
    EXPECT_TRUE(mine.valid());
    EXPECT_FALSE(try_lock_file(path).valid());
  }
  EXPECT_TRUE(try_lock_file(path).valid());
}

TEST_F(LockFile, AFileThatItsLastOwnerRemovedIsNotTheLock) {
  static std::string path;
  path = folder_.path("lock");
  static int calls;
  calls = 0;
  flock_call() = [](int fd, int operation) {
    if (++calls == 1) std::filesystem::remove(path);  // opened before, locked after it
    return ::flock(fd, operation);
  };
  const auto mine = try_lock_file(path);
  EXPECT_TRUE(mine.valid());
  EXPECT_EQ(calls, 2);
  flock_call() = real_;
  EXPECT_FALSE(try_lock_file(path).valid());
}

TEST_F(LockFile, WhatIsNoLockIsNotTakenForOne) {
  static int error;
  flock_call() = [](int, int) { return errno = error, -1; };
  for (const int code : {EBADF, ENOLCK, EOPNOTSUPP, EIO}) {
    error = code;
    const std::string said = refusal(folder_.path("lock"));
    EXPECT_NE(said.find("while locking " + folder_.path("lock")), std::string::npos) << said;
    const bool without_locks = code == ENOLCK || code == EOPNOTSUPP;
    EXPECT_EQ(said.find("Mount it with locks") != std::string::npos, without_locks) << said;
  }
}

TEST_F(LockFile, AnInterruptedCallIsRepeated) {
  static int calls;
  calls = 0;
  flock_call() = [](int fd, int operation) {
    return ++calls == 1 ? (errno = EINTR, -1) : ::flock(fd, operation);
  };
  EXPECT_TRUE(try_lock_file(folder_.path("lock")).valid());
  EXPECT_EQ(calls, 2);
}

TEST_F(LockFile, AFileThatIsAnotherEachTimeIsRefused) {
  auto& stat = posix::calls().stat;
  const auto real = stat;
  stat = [](const char*, struct stat* out) {
    out->st_ino = 0;
    return 0;
  };
  const std::string text = refusal(folder_.path("lock"));
  stat = real;
  EXPECT_NE(text.find("can't be locked: its file system gives it another number"),
            std::string::npos)
      << text;
}

TEST_F(LockFile, AnotherUsersFileIsSaidToBeOne) {
  const std::string path = folder_.path("lock");
  { const auto theirs = try_lock_file(path); }
  auto& open = posix::calls().open;
  const auto real = open;
  open = [](const char*, int, mode_t) { return errno = EACCES, -1; };
  const std::string text = refusal(path);
  open = real;
  EXPECT_NE(text.find("it is another user's, whose process is writing here, or was killed"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace headrace::storage
