#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::imaging {

/// A file on disk read by position. Safe from any thread.
class FileBytes {
 public:
  /// Errors: not_found, io (a folder, no permission); each names the file.
  explicit FileBytes(const std::string& path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }
  /// Fills `dst` from byte `offset`. Errors: corrupt (past the end of the file), io.
  void read(std::uint64_t offset, std::span<std::byte> dst) const;
  /// The first bytes of the file, at most `count`.
  std::vector<std::byte> head(std::size_t count) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// A file that appears under its name only when finished: written aside, synced, renamed. If it is
/// dropped unfinished, nothing remains. Errors: io (names the file and the reason, for example a
/// full disk).
class AsideFile {
 public:
  explicit AsideFile(std::string path);
  ~AsideFile();
  AsideFile(const AsideFile&) = delete;
  AsideFile& operator=(const AsideFile&) = delete;

  void append(std::span<const std::byte> bytes);
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
  void flush();
  void write_through(std::uint64_t offset, std::span<const std::byte> bytes);

  std::string path_, aside_;
  int fd_ = -1;
  std::uint64_t size_ = 0, flushed_ = 0;
  std::vector<std::byte> pending_;
};

}  // namespace headrace::imaging
