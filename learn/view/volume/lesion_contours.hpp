#pragma once
#include <cstdint>
#include <vector>

#include "headrace/pixels/polygon_raster.hpp"
#include "learn/view/volume/voxel_source.hpp"

namespace headrace::view {

/// Numbers of lesions in a map of them: 1 to this.
inline constexpr std::uint64_t kMostLesions = 254;

/// The outlines of a lesion on axial slice z along the edges of its voxels, so that filling them by
/// the even-odd rule gives the same voxels: those of its parts (4 neighbours), holes too. Empty
/// where it is not on the slice.
///
/// in      lesions  numbers of lesions, uint8; number in 1 to kMostLesions; z inside
/// rings   voxels, the centre of the first is (0.5, 0.5)
/// memory  the slice
std::vector<pixels::Ring> lesion_contours(const VoxelSource& lesions, std::uint64_t number,
                                          std::int64_t z);

}  // namespace headrace::view
