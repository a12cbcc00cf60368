#include "headrace/core/regular_file.hpp"

#include <fcntl.h>

#include <cerrno>

#include "headrace/core/error.hpp"
#include "headrace/core/url_hint.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_to_open(const std::string& path, int error) {
  std::error_code ignored;
  if (error != ENOENT && error != ENOTDIR) {
    fail(ErrorCode::io, "{}: cannot be opened: {}", path, posix::describe_errno(error));
  }
  if (fs::is_symlink(fs::symlink_status(path, ignored))) {
    fail(ErrorCode::not_found, "{}: there is no such file: it is a link to {}, which is not there",
         path, fs::read_symlink(path, ignored).string());
  }
  fail(ErrorCode::not_found, "{}: there is no such file{}", path, url_hint(path));
}

}  // namespace

RegularFile::RegularFile(const std::string& path) : file_(posix::open_file(path, O_RDONLY)) {
  struct stat info {};
  if (!file_.valid()) {
    const int error = errno;
    if (posix::calls().stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode))
      refuse_to_open(path, error);
  } else if (posix::calls().fstat(file_.get(), &info) != 0) {
    refuse_to_open(path, errno);
  } else if (S_ISREG(info.st_mode)) {
    size_ = static_cast<std::uint64_t>(info.st_size);
    return;
  }
  std::error_code ignored;
  fail(ErrorCode::io, "{}: is not a regular file but {}", path,
       kind_of_path(fs::status(path, ignored)));
}

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
