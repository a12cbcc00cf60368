#include "headrace/core/read_file.hpp"

#include <array>
#include <fstream>

#include "headrace/core/error.hpp"

namespace headrace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorCode::not_found, "{}: the file can't be opened", path.string());
  std::string bytes;
  std::array<char, 65536> piece;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
    bytes.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) fail(ErrorCode::io, "{}: the file can't be read to its end", path.string());
  return bytes;
}

}  // namespace headrace
