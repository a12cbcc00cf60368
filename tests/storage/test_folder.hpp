#pragma once
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "headrace/core/posix.hpp"

namespace headrace::storage {

/// A fresh folder, removed at the end of its scope.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hr-store-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      count += entry.is_regular_file();
    return count;
  }

 private:
  std::filesystem::path path_;
};

/// Puts the real system calls back at the end of its scope.
class RealCallsAfterwards {
 public:
  ~RealCallsAfterwards() { posix::calls() = real_; }
  void now() const { posix::calls() = real_; }

 private:
  posix::Calls real_ = posix::calls();
};

}  // namespace headrace::storage
