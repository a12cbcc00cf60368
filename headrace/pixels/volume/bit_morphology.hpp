#pragma once
#include <cstdint>

#include "headrace/pixels/bit_volume.hpp"

namespace headrace::pixels {

/// Sets the bits of voxels above `threshold`. values: one slice, (y, x).
void threshold_slice(const std::int16_t* values, std::int16_t threshold, std::int64_t z,
                     BitVolume& out);

/// Erosion of every slice by a rectangle of (2·ry + 1) × (2·rx + 1) voxels, rx up to 63. Voxels
/// outside the volume count as set, so a body that the field of view cuts off is not eroded from
/// there.
BitVolume erode_slices(const BitVolume& mask, int ry, int rx);
/// Dilation by the same rectangle; outside counts as clear.
BitVolume dilate_slices(const BitVolume& mask, int ry, int rx);
/// mask and other.
void intersect(BitVolume& mask, const BitVolume& other);

}  // namespace headrace::pixels
