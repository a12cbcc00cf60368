#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace headrace::posix {

/// The system calls that stores make, one function each: the seam where tests inject EINTR, short
/// reads, a full disk or a kill. Signatures and errno are those of POSIX.
struct Calls {
  int (*open)(const char* path, int flags, mode_t mode);
  int (*close)(int fd);
  int (*fstat)(int fd, struct stat* out);
  ssize_t (*pread)(int fd, void* dst, std::size_t count, off_t offset);
  ssize_t (*write)(int fd, const void* src, std::size_t count);
  ssize_t (*pwrite)(int fd, const void* src, std::size_t count, off_t offset);
  int (*fsync)(int fd);
  int (*rename)(const char* from, const char* to);
  int (*unlink)(const char* path);
  int (*mkdir)(const char* path, mode_t mode);
  int (*stat)(const char* path, struct stat* out);
};

/// The table in use. Tests replace entries while no store works, and put them back.
Calls& calls() noexcept;

/// An open descriptor, closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const noexcept { return fd_; }
  bool valid() const noexcept { return fd_ >= 0; }
  int release() noexcept;
  void reset() noexcept;

 private:
  int fd_;
};

/// open(2), repeated on EINTR; an invalid descriptor with errno set when it fails.
Descriptor open_file(const std::string& path, int flags, mode_t mode = 0644);

/// Reads until dst is full or the file ends, over short reads and EINTR.
/// Returns the bytes read, or -1 with errno set.
std::int64_t read_at(int fd, std::uint64_t offset, std::span<std::byte> dst);

/// Writes everything, over short writes and EINTR. Returns 0, or an errno.
int write_all(int fd, std::span<const std::byte> bytes);

/// The same from a byte of the file on; its end does not matter. Returns 0, or an errno.
int write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes);

/// fsync(2), repeated on EINTR. Returns 0, or an errno.
int sync(int fd);

/// Makes a folder and those above it; the entry of each new one is synced into its parent.
/// Returns 0, or an errno.
int make_folders(const std::string& path);

/// Syncs a folder's entries. Returns 0, or an errno.
int sync_folder(const std::string& path);

/// "disk full" and "quota exceeded" in a user's words, else strerror's text.
std::string describe_errno(int error);

}  // namespace headrace::posix
