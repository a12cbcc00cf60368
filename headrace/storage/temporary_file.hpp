#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

#include "headrace/core/posix.hpp"

namespace headrace::storage {

/// How the names of objects begin that are being written. Stores do not list them.
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

/// A file under a name that no other writer has (<prefix><process>-<number>), removed at the end of the
/// scope unless it was put in its place. Functions return 0 or an errno, so that each caller says in
/// its own words what it could not write. One thread.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Makes it, instead of a former one, in a folder that exists; an empty name is the working folder. `mode` as of open(2).
  int create(const std::string& folder, mode_t mode, std::string_view prefix = kTemporaryPrefix);
  int fd() const noexcept { return file_.get(); }
  const std::string& path() const noexcept { return path_; }
  /// Syncs it, if that is wanted, closes it and renames it, in one file system. The folder's entry
  /// is for the caller to sync.
  int put_in_place(const std::string& path, bool sync);
  void remove() noexcept;

 private:
  posix::Descriptor file_;
  std::string path_;  ///< empty: there is none to be removed
};

}  // namespace headrace::storage
