#pragma once
#include <array>
#include <cstdint>

namespace headrace::measure {

/// Area in mm² of the surface inside a cube of 2×2×2 voxel centres, by which of the eight are set.
///
/// The code of a cube at (z, y, x) has bit 7 for voxel (z-1, y-1, x-1), bit 6 for (z-1, y-1, x),
/// … bit 0 for (z, y, x). 0 where none or all are set.
/// source  marching cubes as triangulated in the lookup table of DeepMind's surface-distance 0.1
///         (github.com/google-deepmind/surface-distance, Apache-2.0): its normals without their
///         signs, which areas do not need
std::array<double, 256> surface_areas(const std::array<double, 3>& spacing_mm_zyx);

}  // namespace headrace::measure
