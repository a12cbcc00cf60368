#include "headrace/storage/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "headrace/core/error.hpp"

namespace headrace::storage {

void TemporaryFile::remove() noexcept {
  if (!path_.empty()) posix::calls().unlink(path_.c_str());
  path_.clear();
}

// Process id and a counter make the name; O_EXCL excludes the rest.
int TemporaryFile::create(const std::string& folder, mode_t mode, std::string_view prefix) {
  static std::atomic<std::uint64_t> counter{0};
  remove();
  while (true) {
    const std::string name = fmt::format("{}{}-{}", prefix, ::getpid(), counter++);
    const std::string path = folder.empty() ? name : folder + "/" + name;
    file_ = posix::open_file(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (file_.valid()) {
      path_ = path;
      return 0;
    }
    if (errno != EEXIST) return errno;
  }
}

int TemporaryFile::put_in_place(const std::string& path, bool sync) {
  if (const int error = sync ? posix::sync(file_.get()) : 0; error != 0) return error;
  // Some file systems report a failed write only now.
  if (posix::calls().close(file_.release()) != 0 && errno != EINTR) return errno;
  if (posix::calls().rename(path_.c_str(), path.c_str()) != 0) return errno;
  path_.clear();
  return 0;
}

}  // namespace headrace::storage
