#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/regular_file.hpp"

namespace headrace::imaging {

/// A file on disk read by position. Safe from any thread.
class FileBytes {
 public:
  /// Errors: not_found, io (a folder, a FIFO, no permission); each names the file.
  explicit FileBytes(const std::string& path) : path_(path), file_(path) {}
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return file_.size(); }
  /// Fills `dst` from byte `offset`. Errors: corrupt (past the end of the file), io.
  void read(std::uint64_t offset, std::span<std::byte> dst) const;
  /// The first bytes of the file, at most `count`.
  std::vector<std::byte> head(std::size_t count) const;

 private:
  std::string path_;
  RegularFile file_;
};

}  // namespace headrace::imaging
