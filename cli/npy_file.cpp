#include "cli/npy_file.hpp"

#include <fmt/format.h>

#include <string_view>

#include "headrace/storage/atomic_file.hpp"

namespace headrace::cli {

void write_npy(const std::string& path, DType dtype, const std::vector<std::int64_t>& shape,
               std::span<const std::byte> bytes) {
  std::string extents;
  for (const std::int64_t n : shape) extents += fmt::format("{}, ", n);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   npy_descr(dtype), extents);
  header.append(63 - (10 + header.size()) % 64, ' ').append("\n");
  const char length[] = {static_cast<char>(header.size() & 0xff),
                         static_cast<char>(header.size() >> 8)};
  storage::AtomicFile file(path);
  file.append(std::string_view("\x93NUMPY\x01\x00", 8));
  file.append(std::string_view(length, 2));
  file.append(header);
  file.append(bytes);
  file.finish();
}

}  // namespace headrace::cli
