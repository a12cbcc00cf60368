#include "headrace/core/read_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/core/regular_file.hpp"

namespace headrace {

std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes) {
  const RegularFile file(path.string());
  std::string bytes;
  std::array<char, 65536> piece;
  while (file.size() <= most_bytes && bytes.size() <= most_bytes) {  // it may grow meanwhile
    const ssize_t got = ::read(file.descriptor(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      fail(ErrorCode::io, "{}: the file can't be read to its end: {}", path.string(),
           std::strerror(errno));
    }
    if (got == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
  }
  fail(ErrorCode::malformed, "{}: more than {} bytes, expected fewer in a file of its kind",
       path.string(), most_bytes);
}

}  // namespace headrace
