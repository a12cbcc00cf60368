#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::bench {

/// A CT in memory, (z, y, x); 64 elements after the last voxel are readable.
struct Volume {
  std::vector<std::int64_t> shape;
  std::vector<std::int16_t> voxels;
  const std::int16_t* at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return voxels.data() + (z * shape[1] + y) * shape[2] + x;
  }
  std::int64_t count() const { return shape[0] * shape[1] * shape[2]; }
};

/// Reads an int16 .npy file of three axes in C order, or its first slices. Errors: malformed,
/// corrupt.
///
/// source  https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
inline Volume load_npy(const std::string& path, std::int64_t slices = INT64_MAX) {
  std::ifstream file(path, std::ios::binary);
  char magic[10];
  file.read(magic, sizeof magic);
  std::uint16_t length = 0;
  std::memcpy(&length, magic + 8, 2);
  std::string header(length, '\0');
  file.read(header.data(), length);
  const auto at = header.find("'shape': (");
  Volume volume;
  volume.shape.resize(3);
  auto& shape = volume.shape;
  if (!file || header.find("'<i2'") == std::string::npos || at == std::string::npos ||
      std::sscanf(header.c_str() + at, "'shape': (%ld, %ld, %ld)", &shape[0], &shape[1],
                  &shape[2]) != 3) {
    fail(ErrorCode::malformed, "{}: expected a .npy file of int16 with three axes", path);
  }
  shape[0] = std::min(shape[0], slices);
  volume.voxels.resize(static_cast<std::size_t>(volume.count()) + 64);
  if (!file.read(reinterpret_cast<char*>(volume.voxels.data()), 2 * volume.count())) {
    fail(ErrorCode::corrupt, "{}: the file ends before its voxels do", path);
  }
  return volume;
}

}  // namespace headrace::bench
