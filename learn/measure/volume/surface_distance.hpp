#pragma once
#include <array>
#include <optional>
#include <vector>

#include "headrace/pixels/bit_volume.hpp"

namespace headrace::measure {

/// A piece of a surface: its distance to the other surface, and its area.
struct SurfaceElement {
  double distance_mm = 0, area_mm2 = 0;
};

/// The surfaces of two masks against each other, ascending by distance, then area.
struct SurfaceDistances {
  std::vector<SurfaceElement> truth, predicted;
};

/// Surface elements lie at the corners of voxels, wherever a cube of 2×2×2 voxels is neither empty
/// nor full; the outside of the volume is empty. The distance of an element is that to the nearest
/// element of the other mask, infinite where that is empty.
///
/// cost    12 bytes a voxel of the box around both masks, up to 32 bytes for each element
/// source  Nikolov et al., Deep learning to achieve clinically applicable segmentation of head and
///         neck anatomy, arXiv 1809.04430; equal to DeepMind's surface-distance 0.1
SurfaceDistances surface_distances(const pixels::BitVolume& truth,
                                   const pixels::BitVolume& predicted,
                                   const std::array<double, 3>& spacing_mm_zyx);

/// Part of both surfaces that is at most `tolerance_mm` from the other, by area. None where both
/// masks are empty; 0 where one is.
std::optional<double> surface_dice(const SurfaceDistances& distances, double tolerance_mm);

/// The larger of the two distances below which `part` (0..1) of each surface's area lies: HD95 with
/// 0.95. None where a mask is empty.
std::optional<double> robust_hausdorff_mm(const SurfaceDistances& distances, double part);

}  // namespace headrace::measure
