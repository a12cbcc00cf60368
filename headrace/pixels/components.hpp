#pragma once
#include <cstdint>
#include <vector>

#include "headrace/pixels/bit_volume.hpp"

namespace headrace::pixels {

/// Voxels x0 … x1 - 1 of one row.
struct Run {
  std::int32_t z = 0, y = 0, x0 = 0, x1 = 0;
  std::uint32_t component = 0;
};

enum class Neighbours {
  faces,      ///< 6 in a volume, 4 in a slice
  everything  ///< 26 in a volume, 8 in a slice
};

/// Connected components of the set voxels, as runs in (z, y, x) order; components are numbered from
/// 0 by their first voxel.
struct Components {
  std::vector<Run> runs;
  std::vector<std::uint64_t> sizes;  ///< voxels of each component

  /// The largest one; of several, the first. sizes must not be empty.
  std::uint32_t largest() const;
};

/// in_slices: slices are not connected with each other.
Components find_components(const BitVolume& mask, Neighbours neighbours, bool in_slices = false);

/// Sets or clears the voxels of a run.
void fill_run(const Run& run, bool value, BitVolume& mask);

}  // namespace headrace::pixels
