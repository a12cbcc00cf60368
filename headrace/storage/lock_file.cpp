#include "headrace/storage/lock_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

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

}  // namespace

int (*&flock_call() noexcept)(int fd, int operation) {
  static int (*call)(int, int) = ::flock;
  return call;
}

posix::Descriptor try_lock_file(const std::filesystem::path& path) {
  while (true) {
    posix::Descriptor file = posix::open_file(path.string(), O_RDWR | O_CREAT | O_CLOEXEC);
    if (!file.valid())
      fail(ErrorCode::io, "{} while opening {}.", posix::describe_errno(errno), path.string());
    int error = 0;
    do {
      error = flock_call()(file.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error == EWOULDBLOCK) return posix::Descriptor();
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
}

}  // namespace headrace::storage
