#include "headrace/core/posix.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace headrace::posix {
namespace {

// Linux moves at most this much in one call (man 2 read).
constexpr std::size_t kMostInOneCall = 0x7ffff000;

int real_open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }

/// Gives `write` what is left, and how much is done, until all is; 0 or an errno.
template <typename Write>
int write_pieces(std::span<const std::byte> bytes, Write&& write) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t count = std::min(bytes.size() - done, kMostInOneCall);
    const ssize_t put = write(bytes.subspan(done, count), done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    if (put == 0) return EIO;
    done += static_cast<std::size_t>(put);
  }
  return 0;
}

}  // namespace

Calls& calls() noexcept {
  static Calls table{real_open, ::close,  ::fstat,  ::pread, ::write, ::pwrite,
                     ::fsync,   ::rename, ::unlink, ::mkdir, ::stat};
  return table;
}

Descriptor::~Descriptor() { reset(); }

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::release() noexcept { return std::exchange(fd_, -1); }

void Descriptor::reset() noexcept {
  if (fd_ >= 0) calls().close(fd_);  // not repeated on EINTR: Linux has closed it then
  fd_ = -1;
}

Descriptor open_file(const std::string& path, int flags, mode_t mode) {
  int fd = -1;
  // Where a FIFO lies in the place of an object, opening it must not wait until someone writes into it.
  if ((flags & O_ACCMODE) == O_RDONLY) flags |= O_NONBLOCK | O_NOCTTY;
  do {
    fd = calls().open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

std::int64_t read_at(int fd, std::uint64_t offset, std::span<std::byte> dst) {
  std::size_t done = 0;
  while (done < dst.size()) {
    const std::size_t count = std::min(dst.size() - done, kMostInOneCall);
    const ssize_t got =
        calls().pread(fd, dst.data() + done, count, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::int64_t>(done);
}

int write_all(int fd, std::span<const std::byte> bytes) {
  return write_pieces(bytes, [&](std::span<const std::byte> piece, std::size_t) {
    return calls().write(fd, piece.data(), piece.size());
  });
}

int write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
  return write_pieces(bytes, [&](std::span<const std::byte> piece, std::size_t done) {
    return calls().pwrite(fd, piece.data(), piece.size(), static_cast<off_t>(offset + done));
  });
}

int sync(int fd) {
  while (calls().fsync(fd) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int sync_folder(const std::string& path) {
  const Descriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!folder.valid()) return errno;
  return sync(folder.get());
}

namespace {

/// 0 or an errno, of one folder.
int make_folder(const std::string& path) {
  if (calls().mkdir(path.c_str(), 0755) != 0) return errno == EEXIST ? 0 : errno;
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return sync_folder(".");
  return sync_folder(slash == 0 ? "/" : path.substr(0, slash));
}

}  // namespace

int make_folders(const std::string& path) {
  const int error = make_folder(path);
  if (error != ENOENT) return error;
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos || slash == 0) return ENOENT;
  if (const int above = make_folders(path.substr(0, slash)); above != 0) return above;
  return make_folder(path);  // a link to nothing above it is there and leads nowhere: ENOENT again
}

std::string describe_errno(int error) {
  if (error == ENOSPC) return "disk full";
  if (error == EDQUOT) return "disk quota exceeded";
  return std::strerror(error);
}

}  // namespace headrace::posix
