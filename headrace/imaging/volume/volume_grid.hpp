#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace headrace::imaging {

using Vec3 = std::array<double, 3>;

/// The voxel grid of a volume and its place in the patient.
///
/// `affine_lps` is 4×4, row-major, and takes a voxel index (x, y, z) to LPS millimetres (+x to the
/// patient's left, +y to the back, +z to the head: DICOM's and ITK's frame). Index 0 is the centre
/// of the first voxel. Columns are perpendicular to each other: readers refuse skewed grids.
struct VolumeGrid {
  std::array<std::int64_t, 3> shape_zyx{};
  std::array<double, 16> affine_lps{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

  std::int64_t slice_voxels() const { return shape_zyx[1] * shape_zyx[2]; }
  std::int64_t voxels() const { return shape_zyx[0] * slice_voxels(); }
  Vec3 origin_lps_mm() const { return {affine_lps[3], affine_lps[7], affine_lps[11]}; }
  /// Length of column x, y or z (0, 1, 2) in millimetres.
  double spacing_mm(int column) const;
  std::array<double, 3> spacing_mm_zyx() const;
  /// 3×3, row-major; column j is the unit direction of index j, as ITK's direction matrix.
  std::array<double, 9> direction_lps() const;
  Vec3 to_lps_mm(double x, double y, double z) const;
  /// Voxel index (x, y, z) of a point; fractions lie between voxel centres.
  Vec3 to_index(const Vec3& lps_mm) const;
  /// One line: shape, spacing, origin, direction.
  std::string text() const;

  static VolumeGrid of(const std::array<std::int64_t, 3>& shape_zyx, const Vec3& spacing_mm_xyz,
                       const Vec3& origin_lps_mm, const std::array<double, 9>& direction_lps);
};

/// How the axes of one grid lie on those of another that has its voxels at the same places: index j
/// (x, y, z) of the target runs along axis[j] of the source, from the end when flip[j].
struct AxisMap {
  std::array<int, 3> axis{0, 1, 2};
  std::array<bool, 3> flip{false, false, false};
  bool identity() const {
    return axis == std::array<int, 3>{0, 1, 2} && !flip[0] && !flip[1] && !flip[2];
  }
};

/// How far apart two grids may lie at any corner, as a fraction of the smallest spacing, and still
/// count as the same voxels.
inline constexpr double kSameGridTolerance = 0.05;

/// The axis map when both grids have the same voxels at the same places, up to swapped or reversed
/// axes.
std::optional<AxisMap> match_grids(const VolumeGrid& source, const VolumeGrid& target);

}  // namespace headrace::imaging
