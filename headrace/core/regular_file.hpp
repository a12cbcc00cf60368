#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "headrace/core/posix.hpp"

namespace headrace {

/// An open file of bytes that lie on a disk. Opening it never waits for anyone: a FIFO, a socket and a
/// device are refused, however a path comes to lead to one. Other code that opens files named by
/// users goes through it.
class RegularFile {
 public:
  /// Errors: not_found (nothing there, also behind a link), io (no regular file, no permission); each
  /// names the path and what it is.
  explicit RegularFile(const std::string& path);

  int descriptor() const noexcept { return file_.get(); }
  std::uint64_t size() const noexcept { return size_; }  ///< when it was opened
  posix::Descriptor take() && noexcept { return std::move(file_); }

 private:
  posix::Descriptor file_;
  std::uint64_t size_ = 0;
};

/// What a thing of a file system is, in words: "a FIFO", "a socket", "a device", "a folder", "a file";
/// of a link without end or target "a link to nothing".
std::string_view kind_of_path(const std::filesystem::file_status& status);

}  // namespace headrace
