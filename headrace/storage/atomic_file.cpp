#include "headrace/storage/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/storage/lock_file.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::storage {
namespace {

/// Other than a store's, whose writers lock the store and not each file.
constexpr std::string_view kPartial = ".partial-";
constexpr std::size_t kPendingBytes = std::size_t{1} << 20;

/// 0 or an errno.
int lock(int fd) {
  while (flock_call()(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// Removes what killed writers left in a folder.
void remove_leftovers(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const std::filesystem::path& path = entry->path();
    if (!path.filename().string().starts_with(kPartial) || !entry->is_regular_file(ignored))
      continue;
    const posix::Descriptor file = posix::open_file(path.string(), O_WRONLY);
    if (file.valid() && lock(file.get()) == 0) posix::calls().unlink(path.c_str());
  }
}

/// Some file systems can't sync a folder, or don't let it be opened; there the rename alone has to
/// do, as for most programs. What says that bytes are lost is an error.
bool is_loss(int error) { return error == EIO || error == ENOSPC || error == EDQUOT; }

}  // namespace

AtomicFile::AtomicFile(const std::string& path, mode_t mode)
    : path_(Place::parse(path).path().string()) {
  create(mode);
  pending_.reserve(kPendingBytes);
}

void AtomicFile::create(mode_t mode) {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  remove_leftovers(folder);
  // Again where another writer's remove_leftovers came between making and locking it.
  for (int rounds_left = 8; rounds_left > 0; --rounds_left) {
    if (const int error = file_.create(folder, mode, kPartial); error != 0)
      refuse("cannot be written", error);
    lock_ = posix::Descriptor(::fcntl(file_.fd(), F_DUPFD_CLOEXEC, 0));
    struct stat there {};
    if (lock(file_.fd()) != EWOULDBLOCK && posix::calls().stat(file_.path().c_str(), &there) == 0)
      return;
  }
  refuse("cannot be written", EAGAIN);
}

void AtomicFile::refuse(const std::string& what, int error) const {
  fail(ErrorCode::io, "{}: {}: {}", path_, what, posix::describe_errno(error));
}

void AtomicFile::append(std::span<const std::byte> bytes) {
  if (pending_.size() + bytes.size() > kPendingBytes) flush();
  if (bytes.size() > kPendingBytes) {
    write_through(flushed_, bytes);
    flushed_ += bytes.size();
  } else {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  size_ += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  flush();
  write_through(offset, bytes);
}

std::uint64_t AtomicFile::reserve(std::uint64_t bytes) {
  flush();
  const std::uint64_t at = size_;
  flushed_ += bytes;
  size_ += bytes;
  return at;
}

void AtomicFile::flush() {
  write_through(flushed_, pending_);
  flushed_ += pending_.size();
  pending_.clear();
}

void AtomicFile::write_through(std::uint64_t offset, std::span<const std::byte> bytes) {
  const int error = posix::write_at(file_.fd(), offset, bytes);
  if (error != 0) refuse(fmt::format("writing {} bytes at byte {}", bytes.size(), offset), error);
}

void AtomicFile::finish() {
  flush();
  if (const int error = file_.put_in_place(path_, true); error != 0) {
    file_.remove();
    refuse("cannot be put in place", error);
  }
  lock_.reset();
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const int error = posix::sync_folder(folder.empty() ? "." : folder);
  if (is_loss(error)) refuse("its folder cannot be synced", error);
}

void write_file(const std::string& path, std::span<const std::byte> bytes, mode_t mode) {
  AtomicFile file(path, mode);
  file.append(bytes);
  file.finish();
}

}  // namespace headrace::storage
