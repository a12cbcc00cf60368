#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "headrace/core/posix.hpp"
#include "headrace/storage/read_runs.hpp"

namespace headrace::storage {

/// The bytes of one object that were read, in a sparse file of this machine: 4 KiB that say of which
/// object, the object's pages in their order, and a CRC-32C for each page. A page without one, or
/// whose bytes have another one, is not there; so neither a lost write nor a damaged disk gives wrong
/// bytes. Safe from any thread and between processes: what two of them write at once is the same.
class DiskCacheFile {
 public:
  static constexpr std::uint64_t kPageBytes = 1 << 10;

  /// Of which object it is: what to ask for when the rest of it is read.
  struct Facts {
    std::uint64_t size_bytes = 0;
    std::string version;  ///< at most 2 KiB
    bool operator==(const Facts&) const = default;
  };

  /// Null with errno set: there is none (ENOENT), it is not sound (EBADMSG), it is another user's or
  /// may be read by others (EACCES), or it can't be opened.
  static std::shared_ptr<const DiskCacheFile> open(const std::string& path);
  /// Makes one without pages, or opens the one that another process has made meanwhile; null with
  /// errno set where that fails.
  static std::shared_ptr<const DiskCacheFile> create(const std::string& path, const Facts& facts);

  const Facts& facts() const noexcept { return facts_; }

  /// What came of a read.
  struct Found {
    ByteRun missing;  ///< from the first page that is not there to the last; count 0: all were
    bool damaged = false;
  };
  /// Copies those pages of [offset, offset + dst.size()) that are there. The run begins at a page, and
  /// ends at one or at the object's end.
  Found read(std::uint64_t offset, std::span<std::byte> dst) const;
  /// Keeps such a run. Returns 0, or an errno.
  int keep(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// It was used now, for those that remove what is not. Its time of change stays: that is when the
  /// server last answered for this version.
  void touch() const;
  /// The server has answered for this version now. `keep` says so, too.
  void confirm() const;
  /// When it last did, in seconds since 1970; nothing where the file was removed meanwhile.
  std::optional<std::int64_t> confirmed_s() const;

 private:
  DiskCacheFile(posix::Descriptor file, Facts facts)
      : file_(std::move(file)), facts_(std::move(facts)) {}
  std::uint64_t place_of_sum(std::uint64_t page) const;

  posix::Descriptor file_;
  Facts facts_;
};

}  // namespace headrace::storage
