#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "headrace/imaging/volume/volume_grid.hpp"
#include "headrace/pixels/components.hpp"

namespace headrace::predict {

/// The diameters of a lesion in one slice.
///
/// "Axial" is a plane of equal z of the stored grid. That is the patient's transverse plane for
/// upright grids; where the scan is tilted it is the scanned plane, as a reader measures on it.
struct AxialDiameter {
  std::int64_t slice = 0;  ///< z index
  /// Largest distance between the centres of two of the lesion's voxels in this slice; nothing is
  /// added for the voxels' own size, so a single voxel has 0.
  double longest_mm = 0;
  std::array<std::array<std::int64_t, 2>, 2> ends_yx{};  ///< voxel indices of its two ends
  /// Extent of the voxels' centres of this slice along the direction in the plane that is
  /// perpendicular to the longest diameter: largest minus smallest place along it.
  double perpendicular_mm = 0;
};

/// The longest of all slices; of equal ones the one in the lowest slice, then with the first ends
/// in (y, x) order. Exact: the two ends are corners of the convex hull of a slice's voxels, which
/// is found in integers; lengths go through the affine, so they hold for oblique grids.
///
/// in  runs  voxels of one lesion in (z, y, x) order; at least one
AxialDiameter axial_diameter(std::span<const pixels::Run> runs, const imaging::VolumeGrid& grid);

}  // namespace headrace::predict
