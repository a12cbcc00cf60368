#include "headrace/transform/volume/reach.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/transform/volume/place_volume.hpp"

namespace headrace::transform {
namespace {

/// More than the loss of float32 coordinates against these, and than rounding of the inverse.
constexpr double kRounding = 1.0 / 16;
/// Voxels along the extent's edge that samples beyond it may read, smoothing aside.
constexpr std::int64_t kEdge = 2;

/// For a matrix that turns, scales and shears: never singular.
std::array<double, 9> inverse_of(const Affine3& map) {
  const auto at = [&](std::size_t i, std::size_t j) { return map.m[4 * (i % 3) + j % 3]; };
  std::array<double, 9> inverse{};
  double determinant = 0;
  for (std::size_t j = 0; j < 3; ++j)
    determinant += at(0, j) * (at(1, j + 1) * at(2, j + 2) - at(1, j + 2) * at(2, j + 1));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      inverse[3 * j + i] =
          (at(i + 1, j + 1) * at(i + 2, j + 2) - at(i + 1, j + 2) * at(i + 2, j + 1)) / determinant;
    }
  }
  return inverse;
}

}  // namespace

VolumeReach::VolumeReach(const VolumeParams& params, const VolumePatchSpec& patch,
                         const VolumeGeometry& geometry, const Box3& extent)
    : window_{{0, 0, 0}, geometry.window.size_zyx}, extent_(extent) {
  const Affine3 map = level_map(params, patch, geometry.scale_zyx);
  patch_from_window_ = inverse_of(map);
  const auto smoothing = smoothing_of(params, geometry.scale_zyx);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    offset_[axis] = geometry.centre_in_window_zyx[axis] - 0.5 + map.m[4 * axis + 3];
    last_[axis] = patch.size_zyx[axis] - 1;
    // A position p reads the voxels floor(p) and floor(p) + 1, smoothed over `radius` voxels.
    edge_[axis] = kEdge + smoothing[axis].radius;
    margin_low_[axis] = 1 + smoothing[axis].radius + kRounding;
    margin_high_[axis] = smoothing[axis].radius + kRounding;
    if (params.elastic.grid == 0) continue;
    // The hull of a B-spline's control values holds it: p is the affine place plus low … high.
    const auto& control = params.elastic.mm[axis];
    const auto [low, high] = std::minmax_element(control.begin(), control.end());
    const double voxels_per_mm = geometry.scale_zyx[axis] / patch.spacing_mm_zyx[axis];
    margin_low_[axis] += std::max(*high * voxels_per_mm, 0.0);
    margin_high_[axis] += std::max(-*low * voxels_per_mm, 0.0);
  }
}

bool VolumeReach::touches(const Box3& box) const {
  std::array<double, 3> middle{}, half{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::int64_t begin = box.origin_zyx[axis], end = begin + box.size_zyx[axis];
    // Everything beyond the extent reads its last voxels; nothing lies beyond the window.
    const std::int64_t first = extent_.origin_zyx[axis], behind = first + extent_.size_zyx[axis];
    if (begin < first + edge_[axis]) begin = 0;
    if (end > behind - edge_[axis]) end = window_.size_zyx[axis];
    const double low = static_cast<double>(begin) - margin_low_[axis] - offset_[axis];
    const double high = static_cast<double>(end) + margin_high_[axis] - offset_[axis];
    middle[axis] = (low + high) / 2;
    half[axis] = (high - low) / 2;
  }
  // Compares the box, mapped back into the patch, with the patch along the patch's own axes.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double* row = patch_from_window_.data() + 3 * axis;
    const double at = row[0] * middle[0] + row[1] * middle[1] + row[2] * middle[2];
    const double reach =
        std::abs(row[0]) * half[0] + std::abs(row[1]) * half[1] + std::abs(row[2]) * half[2];
    if (at + reach < 0 || at - reach > last_[axis]) return false;
  }
  return true;
}

}  // namespace headrace::transform
