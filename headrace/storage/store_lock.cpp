#include "headrace/storage/store_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "headrace/core/error.hpp"

namespace headrace::storage {

StoreLock::StoreLock(const std::string& folder) : folder_(folder) {
  std::error_code error;
  made_ = std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorCode::io, "{}: can't be made: {}", folder, error.message());
  // The folder itself is locked, so no lock file is left behind in the store.
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) fail(ErrorCode::io, "{}: {}", folder, std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    ::close(descriptor_);
    if (code == EWOULDBLOCK) {
      fail(ErrorCode::io, "{}: another run is writing here; wait until it has ended", folder);
    }
    fail(ErrorCode::io, "{}: can't be locked: {}", folder, std::strerror(code));
  }
}

StoreLock::~StoreLock() {
  if (made_) ::rmdir(folder_.c_str());  // does not remove a folder that holds something
  ::close(descriptor_);
}

}  // namespace headrace::storage
