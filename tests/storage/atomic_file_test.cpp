#include "headrace/storage/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <thread>

#include "headrace/storage/atomic_folder.hpp"
#include "headrace/storage/lock_file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/storage/test_folder.hpp"

namespace headrace::storage {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string& path, const std::string& text) {
  write_file(path, std::as_bytes(std::span(text)));
}

// A file that is there before, which every failure must leave.
class AtomicFileFaults : public ::testing::Test {
 protected:
  AtomicFileFaults() { put(path_, "before"); }

  std::string expect_failure(const std::string& step) {
    const std::string said = error_of(ErrorCode::io, [&] { put(path_, "after"); });
    real_.now();
    EXPECT_TRUE(said.starts_with(path_ + ": ")) << said;
    EXPECT_EQ(text_of(path_), "before") << step;
    EXPECT_EQ(folder_.files(), 1U) << step;
    return said;
  }

  RealCallsAfterwards real_;
  TestFolder folder_;
  const std::string path_ = folder_ / "a file";
};

int calls_made = 0;

TEST(AtomicFile, AppearsWholeWhenItIsFinished) {
  const TestFolder folder;
  const std::string path = folder / "läsion.txt";
  const std::string large(std::size_t{3} << 20, 'x');
  {
    AtomicFile file(path);
    file.append("one ");
    const std::uint64_t room = file.reserve(4);
    EXPECT_EQ(room, 4U);
    file.append(large);
    file.append(" end");
    const std::string early = "ONE", late = "two ";
    file.write_at(0, std::as_bytes(std::span(early)));
    std::thread([&] { file.fill_reserved(room, std::as_bytes(std::span(late))); }).join();
    EXPECT_EQ(file.size(), 8 + large.size() + 4);
    EXPECT_FALSE(fs::exists(path));
    file.finish();
  }
  EXPECT_EQ(text_of(path), "ONE two " + large + " end");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, TakesAFileUrlAndANameInTheWorkingFolder) {
  const TestFolder folder;
  put("file://" + (folder / "a"), "text");
  EXPECT_EQ(text_of(folder / "a"), "text");
  EXPECT_NE(error_of(ErrorCode::unsupported, [] { put("s3://b/x", "text"); }).find("s3://b/x"),
            std::string::npos);
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  put("b", "text");
  fs::current_path(before);
  EXPECT_EQ(text_of(folder / "b"), "text");
}

TEST(AtomicFile, HasTheRightsThatWereAskedFor) {
  const TestFolder folder;
  const mode_t mask = ::umask(022);
  put(folder / "open", "text");
  const std::string text = "secret";
  write_file(folder / "closed", std::as_bytes(std::span(text)), 0600);
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "open").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
  ASSERT_EQ(::stat((folder / "closed").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST(AtomicFile, TwoWritersOfOneFileDoNotMix) {
  const TestFolder folder;
  AtomicFile first(folder / "a"), second(folder / "a");
  first.append("first");
  second.append("second, which is longer");
  second.finish();
  first.finish();
  EXPECT_EQ(text_of(folder / "a"), "first");
  EXPECT_EQ(folder.files(), 1U);
}

TEST_F(AtomicFileFaults, AnErrorOfTheCallerLeavesNothing) {
  error_of(ErrorCode::corrupt, [&] {
    AtomicFile file(path_);
    file.append(std::string(std::size_t{2} << 20, 'x'));
    fail(ErrorCode::corrupt, "the caller gave up");
  });
  EXPECT_EQ(text_of(path_), "before");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(AtomicFileFaults, AFullDiskIsSaidInOneSentenceAndLeavesNothing) {
  posix::calls().pwrite = [](int, const void*, std::size_t, off_t) -> ssize_t {
    return errno = ENOSPC, -1;
  };
  EXPECT_EQ(expect_failure("write"), path_ + ": writing 5 bytes at byte 0: disk full");
}

TEST_F(AtomicFileFaults, EveryStepThatFailsLeavesTheOldFile) {
  posix::calls().open = [](const char* path, int flags, mode_t mode) {
    if ((flags & O_CREAT) != 0) return errno = EACCES, -1;
    return ::open(path, flags, mode);
  };
  EXPECT_NE(expect_failure("open").find("cannot be written"), std::string::npos);
  posix::calls().fsync = [](int) { return errno = EIO, -1; };
  EXPECT_NE(expect_failure("fsync").find("cannot be put in place"), std::string::npos);
  posix::calls().rename = [](const char*, const char*) { return errno = EIO, -1; };
  expect_failure("rename");
  posix::calls().close = [](int fd) {
    ::close(fd);
    return errno = EDQUOT, -1;
  };
  EXPECT_NE(expect_failure("close").find("quota exceeded"), std::string::npos);
}

TEST_F(AtomicFileFaults, InterruptedAndShortCallsAreRepeated) {
  calls_made = 0;
  posix::calls().open = [](const char* path, int flags, mode_t mode) {
    if (++calls_made % 2 == 1) return errno = EINTR, -1;
    return ::open(path, flags, mode);
  };
  posix::calls().pwrite = [](int fd, const void* src, std::size_t, off_t offset) -> ssize_t {
    if (++calls_made % 2 == 1) return errno = EINTR, -1;
    return ::pwrite(fd, src, 1, offset);
  };
  posix::calls().fsync = [](int fd) {
    if (++calls_made % 2 == 1) return errno = EINTR, -1;
    return ::fsync(fd);
  };
  put(path_, "after");
  real_.now();
  EXPECT_EQ(text_of(path_), "after");
  EXPECT_GE(calls_made, 8);
}

TEST_F(AtomicFileFaults, AFolderThatCannotBeSyncedIsNoErrorButALossIs) {
  static int error;
  const auto fail_on_folders = [](int fd) {
    struct stat status {};
    if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) return errno = error, -1;
    return ::fsync(fd);
  };
  error = EINVAL;
  posix::calls().fsync = fail_on_folders;
  put(path_, "after");
  error = EIO;
  EXPECT_NE(error_of(ErrorCode::io, [&] { put(path_, "later"); }).find("its folder"),
            std::string::npos);
  real_.now();
  EXPECT_EQ(text_of(path_), "later");  // whole, as the rename has put it
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(AtomicFileFaults, AWriterKilledBeforeTheRenameLeavesWhatTheNextOneRemoves) {
  AtomicFile alive(folder_ / "another");
  const pid_t child = ::fork();
  if (child == 0) {
    posix::calls().rename = [](const char*, const char*) -> int { ::_exit(7); };
    put(path_, "after");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(text_of(path_), "before");
  EXPECT_EQ(folder_.files(), 3U);
  put(path_, "next");  // and not the file of a writer that is at work
  EXPECT_EQ(folder_.files(), 2U);
  alive.append("alive");
  alive.finish();
  EXPECT_EQ(text_of(folder_ / "another"), "alive");
}

TEST_F(AtomicFileFaults, WithoutLocksNothingIsRemovedButFilesAreWritten) {
  const auto real = flock_call();
  AtomicFile alive(folder_ / "another");
  flock_call() = [](int, int) { return errno = ENOLCK, -1; };
  put(path_, "after");
  flock_call() = real;
  EXPECT_EQ(text_of(path_), "after");
  EXPECT_EQ(folder_.files(), 2U);
}

TEST(AtomicFolder, AppearsWholeOrNotAtAll) {
  const TestFolder folder;
  fs::create_directories(folder / ".part-a");
  put(folder / ".part-a/left", "by a killed one");
  {
    AtomicFolder whole(folder / "a");
    EXPECT_FALSE(fs::exists(whole.aside()));
    fs::create_directories(whole.aside());
    put((whole.aside() / "file").string(), "text");
    EXPECT_FALSE(fs::exists(folder / "a"));
    whole.finish();
  }
  EXPECT_EQ(text_of(folder / "a/file"), "text");
  EXPECT_EQ(folder.files(), 1U);
  {
    AtomicFolder dropped(folder / "b");
    fs::create_directories(dropped.aside());
    put((dropped.aside() / "file").string(), "text");
  }
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFolder, AFolderInItsPlaceIsKept) {
  const TestFolder folder;
  fs::create_directories(folder / "a");
  put(folder / "a/file", "before");
  const std::string said = error_of(ErrorCode::io, [&] {
    AtomicFolder whole(folder / "a");
    fs::create_directories(whole.aside());
    whole.finish();
  });
  EXPECT_NE(said.find("can't be renamed to " + (folder / "a")), std::string::npos) << said;
  EXPECT_EQ(text_of(folder / "a/file"), "before");
  EXPECT_FALSE(fs::exists(folder / ".part-a"));
  error_of(ErrorCode::unsupported, [] { AtomicFolder("s3://b/x"); });
}

}  // namespace
}  // namespace headrace::storage
