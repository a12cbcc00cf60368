#include "headrace/core/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_to_open(const std::string& path, int error) {
  std::error_code ignored;
  if (error != ENOENT && error != ENOTDIR) {
    fail(ErrorCode::io, "{}: cannot be opened: {}", path, std::strerror(error));
  }
  if (fs::is_symlink(fs::symlink_status(path, ignored))) {
    fail(ErrorCode::not_found, "{}: there is no such file: it is a link to {}, which is not there",
         path, fs::read_symlink(path, ignored).string());
  }
  fail(ErrorCode::not_found, "{}: there is no such file", path);
}

}  // namespace

RegularFile::RegularFile(const std::string& path) {
  do {
    // Without O_NONBLOCK the call waits until someone writes into a FIFO.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (descriptor_ < 0 && errno == EINTR);
  struct stat info {};
  if (descriptor_ < 0) {
    const int error = errno;
    if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) refuse_to_open(path, error);
  } else if (::fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode)) {
    size_ = static_cast<std::uint64_t>(info.st_size);
    return;
  } else {
    ::close(std::exchange(descriptor_, -1));
  }
  std::error_code ignored;
  fail(ErrorCode::io, "{}: is not a regular file but {}", path,
       kind_of_path(fs::status(path, ignored)));
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

std::string_view kind_of_path(const fs::file_status& status) {
  switch (status.type()) {
    case fs::file_type::regular:
      return "a file";
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::fifo:
      return "a FIFO";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::block:
    case fs::file_type::character:
      return "a device";
    case fs::file_type::not_found:
    case fs::file_type::symlink:
    case fs::file_type::none:
      return "a link to nothing";
    default:
      return "of an unknown kind";
  }
}

}  // namespace headrace
