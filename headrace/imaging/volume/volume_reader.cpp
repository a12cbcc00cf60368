#include "headrace/imaging/volume/volume_reader.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

/// What to do about a value that a store can't hold.
const char* advice_for(double value, IntensityUnit unit) {
  if (std::isnan(value)) {
    return unit == IntensityUnit::suv ? "Write 0 where nothing was measured."
                                      : "Write -1024 where nothing was measured, as scanners do.";
  }
  return unit == IntensityUnit::suv ? "Check its units: SUV, not Bq/ml."
                                    : "Check rescale slope and intercept of the source.";
}

}  // namespace

std::optional<IntensityUnit> unit_of(Modality modality) noexcept {
  if (modality == Modality::ct) return IntensityUnit::hu;
  if (modality == Modality::pet) return IntensityUnit::suv;
  return std::nullopt;
}

void VolumeReader::read_int16(std::int64_t z0, std::int64_t depth, std::int16_t* dst,
                              IntensityUnit unit) const {
  const std::int64_t width = info_.grid.shape_zyx[2], count = info_.grid.slice_voxels();
  const double per_unit = stored_per_unit(unit);
  std::vector<double> slice(static_cast<std::size_t>(count));
  for (std::int64_t z = z0; z < z0 + depth; ++z, dst += count) {
    read_slice(z, slice.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = slice[i];
      const double stored = std::nearbyint(value * per_unit);
      if (!(stored >= -32768 && stored <= 32767)) {
        fail(ErrorCode::malformed,
             "{}: voxel (x {}, y {}, z {}) is {}, expected a value in {}..{} {}. {}", name_,
             i % width, i / width, z, value, -32768 / per_unit, 32767 / per_unit, name_of(unit),
             advice_for(value, unit));
      }
      dst[i] = static_cast<std::int16_t>(stored);
    }
  }
}

void VolumeReader::read_float(std::int64_t z0, std::int64_t depth, float* dst) const {
  const std::int64_t count = info_.grid.slice_voxels();
  std::vector<double> slice(static_cast<std::size_t>(count));
  for (std::int64_t z = z0; z < z0 + depth; ++z, dst += count) {
    read_slice(z, slice.data());
    for (std::int64_t i = 0; i < count; ++i) dst[i] = static_cast<float>(slice[i]);
  }
}

void check_volume_size(const std::string& path, const std::array<std::int64_t, 3>& shape_zyx,
                       std::uint64_t bytes_per_voxel, std::uint64_t file_bytes, bool compressed) {
  constexpr std::int64_t kMaxEdge = 65536;
  constexpr std::int64_t kMaxSliceVoxels = std::int64_t{1}
                                           << 26;  // 8192 x 8192: one slice is held in memory
  constexpr std::uint64_t kMaxVoxels = std::uint64_t{1} << 33;
  constexpr std::uint64_t kMaxInflation = 1100;
  std::uint64_t voxels = 1;
  for (const std::int64_t edge : shape_zyx) {
    if (edge < 1 || edge > kMaxEdge ||
        shape_zyx[1] > kMaxSliceVoxels / std::max<std::int64_t>(shape_zyx[2], 1)) {
      fail(ErrorCode::malformed,
           "{}: the header says {}x{}x{} voxels (x, y, z), expected edges of 1..{} and at most {} "
           "voxels a slice.",
           path, shape_zyx[2], shape_zyx[1], shape_zyx[0], kMaxEdge, kMaxSliceVoxels);
    }
    voxels *= static_cast<std::uint64_t>(edge);  // below 2^48
  }
  const std::uint64_t needed = voxels * bytes_per_voxel;
  const std::uint64_t possible = compressed ? file_bytes * kMaxInflation : file_bytes;
  if (voxels > kMaxVoxels || needed > possible) {
    fail(voxels > kMaxVoxels ? ErrorCode::malformed : ErrorCode::corrupt,
         "{}: the header says {}x{}x{} voxels (x, y, z), which is {} bytes, but the file has {} "
         "bytes{}. The file is "
         "truncated or its header is damaged.",
         path, shape_zyx[2], shape_zyx[1], shape_zyx[0], needed, file_bytes,
         compressed ? " compressed, which can't hold so much" : "");
  }
}

void check_finite(const VolumeGrid& grid, const std::string& path) {
  if (std::all_of(grid.affine_lps.begin(), grid.affine_lps.end(),
                  [](double value) { return std::isfinite(value); }))
    return;
  fail(ErrorCode::malformed,
       "{}: the header puts the volume at no finite place ({}). Put the right numbers into it.",
       path, grid.text());
}

void check_orthogonal(const VolumeGrid& grid, const std::string& path) {
  constexpr double kMaxCosine = 1e-3;
  for (int i = 0; i < 3; ++i) {
    const double spacing = grid.spacing_mm(i);
    if (!(spacing > 1e-6 && spacing < 1e6)) {
      fail(ErrorCode::malformed, "{}: voxel size {} mm along axis {}, expected 1e-6..1e6.", path,
           spacing, i);
    }
  }
  const auto d = grid.direction_lps();
  for (int i = 0; i < 3; ++i) {
    const int a = i, b = (i + 1) % 3;
    const double cosine = d[a] * d[b] + d[3 + a] * d[3 + b] + d[6 + a] * d[6 + b];
    if (!(std::abs(cosine) <= kMaxCosine)) {
      fail(ErrorCode::unsupported,
           "{}: axes {} and {} are skewed (cosine {:.4g}), expected perpendicular axes. Resample "
           "the volume to an orthogonal "
           "grid.",
           path, a, b, cosine);
    }
  }
}

}  // namespace headrace::imaging
