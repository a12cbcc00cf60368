#include "headrace/core/read_file.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/regular_file.hpp"

namespace headrace {

std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes) {
  constexpr std::size_t kPiece = 65536;
  const RegularFile file(path.string());
  std::string bytes;
  // Files of /proc have no size, and any may grow meanwhile.
  while (file.size() <= most_bytes && bytes.size() <= most_bytes) {
    const std::size_t before = bytes.size();
    bytes.resize(std::max<std::size_t>(before + kPiece, file.size() + 1));
    const std::int64_t got = posix::read_at(
        file.descriptor(), before, std::as_writable_bytes(std::span(bytes).subspan(before)));
    if (got < 0) {
      fail(ErrorCode::io, "{}: the file can't be read to its end: {}", path.string(),
           posix::describe_errno(errno));
    }
    const bool ended = before + static_cast<std::size_t>(got) < bytes.size();
    bytes.resize(before + static_cast<std::size_t>(got));
    if (ended && bytes.size() <= most_bytes) return bytes;
  }
  fail(ErrorCode::malformed, "{}: more than {} bytes, expected fewer in a file of its kind",
       path.string(), most_bytes);
}

std::string read_file_if_there(const std::filesystem::path& path) {
  try {
    return read_file(path);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace headrace
