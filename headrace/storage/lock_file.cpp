#include "headrace/storage/lock_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>

#include "headrace/core/error.hpp"

namespace headrace::storage {
namespace {

/// Whether the path still leads to the file that was opened: its last owner may have removed it.
bool is_at(const posix::Descriptor& file, const std::filesystem::path& path) {
  struct stat opened = {}, there = {};
  if (posix::calls().fstat(file.get(), &opened) != 0) return false;
  return posix::calls().stat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

[[noreturn]] void refuse_to_open(const std::filesystem::path& path, int error) {
  std::error_code ignored;
  const bool there = error == EACCES && std::filesystem::exists(path, ignored);
  fail(ErrorCode::io, "{} while opening {}{}.", posix::describe_errno(error), path.string(),
       there ? ": it is another user's, whose process is writing here, or was killed; remove the "
               "file if none is"
             : "");
}

}  // namespace

int (*&flock_call() noexcept)(int fd, int operation) {
  static int (*call)(int, int) = ::flock;
  return call;
}

posix::Descriptor try_lock_file(const std::filesystem::path& path) {
  constexpr int kRounds = 100;  // an owner that ends removes the file in between: rarely once
  for (int round = 0; round < kRounds; ++round) {
    std::error_code ignored;
    const bool made = !std::filesystem::exists(path, ignored);
    // For all whom the umask lets write: another user's file would else keep a group's members out.
    posix::Descriptor file = posix::open_file(path.string(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (!file.valid()) refuse_to_open(path, errno);
    int error = 0;
    do {
      error = flock_call()(file.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error == EWOULDBLOCK) return posix::Descriptor();
    if (error == ESTALE) continue;  // NFS: removed since it was opened
    if (error != 0 && made) posix::calls().unlink(path.c_str());
    if (error == ENOLCK || error == EOPNOTSUPP) {
      fail(
          ErrorCode::io,
          "{} while locking {}: its file system has no locks, so two processes at once could spoil "
          "what is there. Mount it with locks, or use a folder on another.",
          posix::describe_errno(error), path.string());
    }
    if (error != 0)
      fail(ErrorCode::io, "{} while locking {}.", posix::describe_errno(error), path.string());
    if (is_at(file, path)) return file;
  }
  fail(ErrorCode::io,
       "{} can't be locked: its file system gives it another number each time. Use a folder on "
       "another.",
       path.string());
}

}  // namespace headrace::storage
