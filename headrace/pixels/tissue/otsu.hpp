#pragma once
#include <array>
#include <cstdint>

namespace headrace::pixels {

/// Bin that splits a histogram best in two: the largest variance between the classes [0, t] and [t
/// + 1, 255].
///
/// source  Otsu, A threshold selection method from gray-level histograms. IEEE Trans. SMC 9, 1979
/// out     t in 0..254, the lowest of equally good thresholds; -1 when fewer than two bins hold
///         pixels
int otsu_threshold(const std::array<std::uint64_t, 256>& histogram);

}  // namespace headrace::pixels
