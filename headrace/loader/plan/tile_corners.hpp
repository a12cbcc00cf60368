#pragma once
#include <cstdint>
#include <vector>

namespace headrace::loader::detail {

/// Tile corners along one axis: every `step`, the last one flush with the end, so that tiles stay
/// inside where possible.
std::vector<std::int64_t> tile_corners(std::int64_t extent, std::int64_t tile, std::int64_t step);

/// Step from one tile to the next, when they share this part of their edge.
std::int64_t tile_step(std::int64_t tile, double overlap);

/// Number of patch pixels (or voxels) along an axis of level 0; the last one may be partial.
std::int64_t patch_extent(std::int64_t level0, double level0_per_patch_pixel);

}  // namespace headrace::loader::detail
