#pragma once
#include <cstdint>

namespace headrace {

/// What normalisation needs to know about the voxels of a volume (its body) or of a training set
/// (its labelled foreground), in HU or the unit of the channel. Computed from exact integer
/// histograms, so it is the same for any order of voxels.
struct IntensityStats {
  std::uint64_t voxels = 0;  ///< 0: nothing is known
  double mean = 0, std = 0;  ///< population standard deviation
  double low = 0, high = 0;  ///< percentiles 0.5 and 99.5
};

}  // namespace headrace
