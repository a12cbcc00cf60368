#pragma once
#include <string>

namespace headrace::storage {

/// Keeps a second ingest out of a store while this object lives; a killed process releases it.
class StoreLock {
 public:
  /// Makes `folder` when it is missing. Errors: io (another process holds the lock, or the folder
  /// can't be made).
  explicit StoreLock(const std::string& folder);
  /// Removes the folder again when it was made here and is still empty.
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  std::string folder_;
  bool made_ = false;
  int descriptor_ = -1;
};

}  // namespace headrace::storage
