#pragma once
#include <cstdint>
#include <vector>

namespace headrace::inference {

/// Weights of the positions of a window along one axis, for blending overlapping windows; for a
/// window of two or three axes the weight is the product. Symmetric, at most 1, never 0. An axis of
/// one position (the one that a slide lacks) weighs 1.

/// exp(-d² / 2σ²), d from the middle of the window and σ an eighth of its edge: at the ends still
/// above exp(-8) = 0.00034. Whatever the overlap, the middle of a window outweighs others' edges.
///
/// source  Isensee et al., nnU-Net, Nature Methods 18, 2021; there the middle of an even edge is
///         the voxel above it, here it lies between the two
std::vector<float> gaussian_window(std::int64_t size);

/// Rises linearly from the ends to 1 over `overlap` positions, the part shared with a neighbour.
std::vector<float> linear_window(std::int64_t size, std::int64_t overlap);

}  // namespace headrace::inference
