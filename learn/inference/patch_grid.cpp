#include "learn/inference/patch_grid.hpp"

#include <cmath>

#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/tile_corners.hpp"
#include "learn/inference/window.hpp"

namespace headrace::inference {

std::array<std::int64_t, 3> tile_zyx(const config::RunConfig& config) {
  if (!config.volumes) return {1, config.patch.height, config.patch.width};
  const auto& size = config.volume_patch.size_zyx;
  return {size[0], size[1], size[2]};
}

std::array<double, 3> step_zyx(const cohort::ImageRecord& image, const config::RunConfig& config) {
  if (!config.volumes) {
    const auto mpp = loader::level_mpp_yx(image, 0, config);
    return {1, config.patch.mpp / mpp[0], config.patch.mpp / mpp[1]};
  }
  const auto spacing = loader::level_spacing_mm_zyx(image, 0, config);
  std::array<double, 3> step{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    step[axis] = config.volume_patch.spacing_mm_zyx[axis] / spacing[axis];
  return step;
}

std::array<std::int64_t, 3> extent_zyx(const cohort::ImageRecord& image,
                                       const config::RunConfig& config) {
  const auto step = step_zyx(image, config);
  const auto shape = cohort::shape_zyx_of(image);
  std::array<std::int64_t, 3> out{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    out[axis] = loader::detail::patch_extent(shape[axis], step[axis]);
  return out;
}

Stitcher::Window tile_window(const config::RunConfig& config) {
  const auto tile = tile_zyx(config);
  Stitcher::Window window;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto shared = std::llround(static_cast<double>(tile[axis]) * config.tiles.overlap);
    window[axis] = config.eval.window == config::TileWindow::gaussian
                       ? gaussian_window(tile[axis])
                       : linear_window(tile[axis], shared);
  }
  return window;
}

}  // namespace headrace::inference
