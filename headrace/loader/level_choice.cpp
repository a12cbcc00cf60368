#include "headrace/loader/level_choice.hpp"

#include "headrace/core/error.hpp"

namespace headrace::loader {

std::array<double, 2> level_mpp_yx(const source::ImageRecord& image, std::size_t level,
                                   const RunConfig& config) {
  if (config.patch_in_level0_pixels) return image.levels[level].downsample_yx;
  if (!image.has_mpp) {
    fail(ErrorCode::usage,
         "image {}: its micrometres a pixel are not known, but patch.mpp is {}. Ingest it with "
         "--mpp, or set "
         "patch.mpp: null to cut patches in pixels of level 0",
         image.id, config.patch.mpp);
  }
  return image.levels[level].mpp_yx;
}

std::size_t choose_level(const source::ImageRecord& image, int context, const RunConfig& config) {
  const double target = config.patch.mpp * context * 1.001;
  std::size_t chosen = 0;
  for (std::size_t k = 1; k < image.levels.size(); ++k) {
    const auto mpp = level_mpp_yx(image, k, config);
    if (mpp[0] <= target && mpp[1] <= target) chosen = k;
  }
  return chosen;
}

}  // namespace headrace::loader
