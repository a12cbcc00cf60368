#include "headrace/loader/plan/tile_corners.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::loader::detail {

std::vector<std::int64_t> tile_corners(std::int64_t extent, std::int64_t tile, std::int64_t step) {
  std::vector<std::int64_t> result{0};
  while (result.back() + tile < extent) {
    result.push_back(std::min(result.back() + step, extent - tile));
  }
  return result;
}

std::int64_t tile_step(std::int64_t tile, double overlap) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(tile) * (1 - overlap)));
}

std::int64_t patch_extent(std::int64_t level0, double level0_per_patch_pixel) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(static_cast<double>(level0) /
                                                                       level0_per_patch_pixel)));
}

}  // namespace headrace::loader::detail
