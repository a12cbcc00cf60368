#include "headrace/imaging/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

std::string reason() { return std::strerror(errno); }

}  // namespace

void FileBytes::read(std::uint64_t offset, std::span<std::byte> dst) const {
  if (offset > size() || dst.size() > size() - offset) {
    fail(ErrorCode::corrupt,
         "{}: bytes {} to {} are needed, but the file ends at {}; it is truncated or damaged",
         path_, offset, offset + dst.size(), size());
  }
  while (!dst.empty()) {
    const ssize_t got =
        ::pread(file_.descriptor(), dst.data(), dst.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorCode::io, "{}: reading at byte {}: {}", path_, offset, reason());
    if (got == 0) fail(ErrorCode::corrupt, "{}: the file became shorter while being read", path_);
    dst = dst.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

std::vector<std::byte> FileBytes::head(std::size_t count) const {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(count, size()));
  read(0, bytes);
  return bytes;
}

}  // namespace headrace::imaging
