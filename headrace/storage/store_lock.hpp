#pragma once
#include <filesystem>
#include <string>

#include "headrace/core/posix.hpp"

namespace headrace::storage {

/// Keeps a second writer out of a store while this object lives, on NFS too; a killed process
/// releases it.
class StoreLock {
 public:
  /// What is locked, a file in the store's folder (try_lock_file). It is there while the store is
  /// written, and after a writer that was killed. LocalStore does not list it.
  static constexpr const char* kFile = ".lock";

  /// Makes `folder` when it is missing. Errors: unsupported (a URL), io (another process holds
  /// the lock, the folder or the file can't be made, the file system has no locks).
  explicit StoreLock(const std::string& folder);
  /// Removes the file, and the folder again when it was made here and is still empty.
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  /// False: somebody has removed the folder meanwhile.
  bool try_once();

  std::filesystem::path folder_;
  bool made_ = false;
  posix::Descriptor file_;
};

}  // namespace headrace::storage
