#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::measure {

/// Squared Euclidean distance in mm² from every place in a box to the nearest set one; infinity
/// where none is.
///
/// in      set     (z, y, x), not 0 is set
/// cost    8 bytes and a few dozen operations for each place, whatever the box holds
/// source  Felzenszwalb and Huttenlocher, Distance transforms of sampled functions, Theory of
///         Computing 8, 2012 (lower envelopes of parabolas, axis by axis); equal to SciPy's
///         distance_transform_edt of the complement, squared
std::vector<double> squared_distances(std::span<const std::uint8_t> set,
                                      const std::array<std::int64_t, 3>& shape_zyx,
                                      const std::array<double, 3>& spacing_mm_zyx);

}  // namespace headrace::measure
