#include "cli/npy_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "headrace/core/error.hpp"

namespace headrace::cli {

void write_npy(const std::string& path, DType dtype, const std::vector<std::int64_t>& shape,
               std::span<const std::byte> bytes) {
  std::string extents;
  for (const std::int64_t n : shape) extents += fmt::format("{}, ", n);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   npy_descr(dtype), extents);
  header.append(63 - (10 + header.size()) % 64, ' ').append("\n");
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.put(static_cast<char>(header.size() & 0xff)).put(static_cast<char>(header.size() >> 8));
  file << header;
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(part, path, failed);
  if (!file || failed) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    fail(ErrorCode::io, "{}: can't be written (no such folder, or the disk is full)", path);
  }
}

}  // namespace headrace::cli
