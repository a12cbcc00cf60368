#include "headrace/storage/store_lock.hpp"

#include <unistd.h>

#include <system_error>

#include "headrace/core/error.hpp"
#include "headrace/storage/lock_file.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::storage {

StoreLock::StoreLock(const std::string& folder) : folder_(Place::parse(folder).path()) {
  // Again where another run has removed its empty folder between these two.
  for (int rounds_left = 3; !try_once(); --rounds_left) {
    if (rounds_left == 0) fail(ErrorCode::io, "{}: is removed again and again", folder);
  }
  if (!file_.valid())
    fail(ErrorCode::io, "{}: another run is writing here; wait until it has ended", folder);
}

bool StoreLock::try_once() {
  std::error_code error;
  made_ = std::filesystem::create_directories(folder_, error) || made_;
  if (error) fail(ErrorCode::io, "{}: can't be made: {}", folder_.string(), error.message());
  try {
    file_ = try_lock_file(folder_ / kFile);
  } catch (...) {
    if (!std::filesystem::exists(folder_, error)) return false;
    if (made_) ::rmdir(folder_.c_str());
    throw;
  }
  return true;
}

StoreLock::~StoreLock() {
  // While it is still locked: somebody else may have it as soon as it is not.
  posix::calls().unlink((folder_ / kFile).c_str());
  file_.reset();                        // NFS keeps what is open in the folder, by another name
  if (made_) ::rmdir(folder_.c_str());  // does not remove a folder that holds something
}

}  // namespace headrace::storage
