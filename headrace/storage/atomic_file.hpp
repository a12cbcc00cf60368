#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/posix.hpp"
#include "headrace/storage/temporary_file.hpp"

namespace headrace::storage {

/// A file that appears under its name only when finished, whole: written beside it under a name of
/// its own (.partial-<process>-<number>), synced, renamed, and the folder's entry synced. If it is dropped unfinished, nothing
/// remains; of a killed process a temporary file, which the next one in that folder removes: those of
/// living writers are locked. Where the file system has no locks, it stays. Two writers of one
/// file don't mix; the last to finish wins.
/// errors   unsupported (a URL), io (names the file and the reason, for example a full disk)
/// threads  one, but for fill_reserved
class AtomicFile {
 public:
  /// mode: as of open(2), so the umask is taken from it.
  explicit AtomicFile(const std::string& path, mode_t mode = 0666);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Leaves room for bytes that fill_reserved writes later, in any order and from any thread;
  /// returns where the room begins.
  std::uint64_t reserve(std::uint64_t bytes);
  void fill_reserved(std::uint64_t offset, std::span<const std::byte> bytes) {
    write_through(offset, bytes);
  }
  std::uint64_t size() const noexcept { return size_; }
  void finish();

 private:
  void create(mode_t mode);
  void flush();
  void write_through(std::uint64_t offset, std::span<const std::byte> bytes);
  [[noreturn]] void refuse(const std::string& what, int error) const;

  std::string path_;
  /// The file once more: holds its lock until it has its name, though the other is closed before.
  posix::Descriptor lock_;
  TemporaryFile file_;
  std::uint64_t size_ = 0, flushed_ = 0;
  std::vector<std::byte> pending_;
};

/// Writes a file whole or not at all. Errors: as AtomicFile's.
void write_file(const std::string& path, std::span<const std::byte> bytes, mode_t mode = 0666);

}  // namespace headrace::storage
