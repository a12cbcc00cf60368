#include "headrace/imaging/volume/nifti_writer.hpp"

#include <array>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/imaging/volume/gzip_slices.hpp"

namespace headrace::imaging {
namespace {

constexpr std::int64_t kMaxAxis = 32767;
constexpr std::size_t kHeaderBytes = 352;  // and no extension

template <typename T>
void put(std::array<std::byte, kHeaderBytes>& header, std::size_t offset, T value) {
  std::memcpy(header.data() + offset, &value, sizeof value);
}

/// nifti.nimh.nih.gov, nifti1.h: offsets of the fields.
std::array<std::byte, kHeaderBytes> header_of(const VolumeGrid& grid, DType dtype, float slope) {
  std::array<std::byte, kHeaderBytes> header{};
  const auto [depth, height, width] = grid.shape_zyx;
  put(header, 0, std::int32_t{348});
  put(header, 38, 'r');
  const std::int64_t dim[8] = {3, width, height, depth, 1, 1, 1, 1};
  for (std::size_t i = 0; i < 8; ++i) put(header, 40 + 2 * i, static_cast<std::int16_t>(dim[i]));
  put(header, 70, static_cast<std::int16_t>(dtype == DType::int16 ? 4 : 2));
  put(header, 72, static_cast<std::int16_t>(dtype == DType::int16 ? 16 : 8));
  put(header, 76, 1.0f);
  for (int i = 0; i < 3; ++i) {
    put(header, 80 + 4 * static_cast<std::size_t>(i), static_cast<float>(grid.spacing_mm(i)));
  }
  put(header, 108, static_cast<float>(kHeaderBytes));
  put(header, 112, slope);
  put(header, 123, std::uint8_t{2});  // millimetres
  put(header, 254, std::int16_t{1});  // sform: scanner
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      const double value = grid.affine_lps[4 * row + column];  // LPS to RAS: two rows turn
      put(header, 280 + 16 * row + 4 * column, static_cast<float>(row < 2 ? -value : value));
    }
  }
  std::memcpy(header.data() + 344, "n+1", 4);
  return header;
}

}  // namespace

std::uint64_t write_nifti_gz(const std::string& path, const VolumeGrid& grid, DType dtype,
                             ThreadPool& pool,
                             const std::function<void(std::int64_t, std::byte*)>& render,
                             float slope) {
  for (const std::int64_t n : grid.shape_zyx) {
    if (n < 1 || n > kMaxAxis)
      fail(ErrorCode::usage, "{}: an axis of {} voxels; NIfTI-1 has 1 to {}", path, n, kMaxAxis);
  }
  if (dtype != DType::int16 && dtype != DType::uint8)
    fail(ErrorCode::usage, "{}: volumes are written as int16 or uint8", path);
  GzipSlices file(path);
  file.append(header_of(grid, dtype, slope));
  const auto slice_bytes =
      static_cast<std::size_t>(grid.slice_voxels()) * (dtype == DType::int16 ? 2 : 1);
  file.append_slices(grid.shape_zyx[0], slice_bytes, pool, render);
  return file.finish();
}

}  // namespace headrace::imaging
