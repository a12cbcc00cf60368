#include "headrace/imaging/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

constexpr std::size_t kPendingBytes = std::size_t{1} << 20;

std::string reason() { return std::strerror(errno); }

}  // namespace

FileBytes::FileBytes(const std::string& path) : path_(path) {
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    fail(ErrorCode::not_found, "{}: there is no such file", path);
  }
  if (fd_ < 0) fail(ErrorCode::io, "{}: cannot be opened: {}", path, reason());
  struct stat info {};
  if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd_);
    fail(ErrorCode::io, "{}: is not a regular file", path);
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
}

FileBytes::~FileBytes() { ::close(fd_); }

void FileBytes::read(std::uint64_t offset, std::span<std::byte> dst) const {
  if (offset > size_ || dst.size() > size_ - offset) {
    fail(ErrorCode::corrupt,
         "{}: bytes {} to {} are needed, but the file ends at {}; it is truncated or damaged",
         path_, offset, offset + dst.size(), size_);
  }
  while (!dst.empty()) {
    const ssize_t got = ::pread(fd_, dst.data(), dst.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorCode::io, "{}: reading at byte {}: {}", path_, offset, reason());
    if (got == 0) fail(ErrorCode::corrupt, "{}: the file became shorter while being read", path_);
    dst = dst.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

std::vector<std::byte> FileBytes::head(std::size_t count) const {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(count, size_));
  read(0, bytes);
  return bytes;
}

AsideFile::AsideFile(std::string path) : path_(std::move(path)) {
  const std::filesystem::path target(path_);
  aside_ = (target.parent_path() / fmt::format(".{}.partial", target.filename().string())).string();
  fd_ = ::open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(ErrorCode::io, "{}: cannot be written: {}", path_, reason());
  pending_.reserve(kPendingBytes);
}

AsideFile::~AsideFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(aside_.c_str());
  }
}

void AsideFile::append(std::span<const std::byte> bytes) {
  if (pending_.size() + bytes.size() > kPendingBytes) flush();
  if (bytes.size() > kPendingBytes) {
    write_through(flushed_, bytes);
    flushed_ += bytes.size();
  } else {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  size_ += bytes.size();
}

void AsideFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  flush();
  write_through(offset, bytes);
}

std::uint64_t AsideFile::reserve(std::uint64_t bytes) {
  flush();
  const std::uint64_t at = size_;
  flushed_ += bytes;
  size_ += bytes;
  return at;
}

void AsideFile::flush() {
  write_through(flushed_, pending_);
  flushed_ += pending_.size();
  pending_.clear();
}

void AsideFile::write_through(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(ErrorCode::io, "{}: writing at byte {}: {}", path_, offset, reason());
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void AsideFile::finish() {
  flush();
  if (::fsync(fd_) != 0) fail(ErrorCode::io, "{}: writing to disk: {}", path_, reason());
  ::close(fd_);
  fd_ = -1;
  if (::rename(aside_.c_str(), path_.c_str()) != 0) {
    const std::string why = reason();
    ::unlink(aside_.c_str());
    fail(ErrorCode::io, "{}: cannot be put in place: {}", path_, why);
  }
}

}  // namespace headrace::imaging
