#pragma once
#include <array>
#include <cstdint>

#include "headrace/cohort/cohort.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/stitcher.hpp"

namespace headrace::inference {

/// The grid of a run's patches over an image: pixels of patch.mpp, or voxels of patch.spacing_mm.
/// Tiles lie on it, and what they give is blended there. A slide has depth 1.

/// Edges of a tile.
std::array<std::int64_t, 3> tile_zyx(const config::RunConfig& config);
/// Size of an image; the last pixel along an axis may stick out of it.
std::array<std::int64_t, 3> extent_zyx(const cohort::ImageRecord& image,
                                       const config::RunConfig& config);
/// Pixels of level 0 a pixel of the grid, along each axis.
std::array<double, 3> step_zyx(const cohort::ImageRecord& image, const config::RunConfig& config);
/// The weights of a tile's pixels: eval.window and eval.overlap.
Stitcher::Window tile_window(const config::RunConfig& config);

}  // namespace headrace::inference
