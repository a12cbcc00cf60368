#include "headrace/loader/plan/level_choice.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::loader {

std::array<double, 2> level_mpp_yx(const cohort::ImageRecord& image, std::size_t level,
                                   const LoaderConfig& config) {
  if (config.patch_in_level0_pixels) return image.levels[level].downsample_yx;
  if (!image.has_mpp) {
    fail(ErrorCode::usage,
         "image {}: its micrometres a pixel are not known, but patch.mpp is {}. Ingest it with "
         "{}, or set "
         "patch.mpp: null to cut patches in pixels of level 0",
         image.id, config.patch.mpp, Option{"mpp"});
  }
  return image.levels[level].mpp_yx;
}

std::size_t choose_level(const cohort::ImageRecord& image, double mpp, const LoaderConfig& config) {
  const double target = mpp * 1.001;
  std::size_t chosen = 0;
  for (std::size_t k = 1; k < image.levels.size(); ++k) {
    const auto mpp = level_mpp_yx(image, k, config);
    if (mpp[0] <= target && mpp[1] <= target) chosen = k;
  }
  return chosen;
}

std::array<double, 3> level_spacing_mm_zyx(const cohort::ImageRecord& image, std::size_t level,
                                           const LoaderConfig& config) {
  const cohort::VolumeLevel& of = image.volume->levels[level];
  return config.patch_in_level0_pixels ? of.downsample_zyx : of.spacing_mm_zyx;
}

std::size_t choose_volume_level(const cohort::ImageRecord& image, const LoaderConfig& config) {
  const auto finest = level_spacing_mm_zyx(image, 0, config);
  const auto& target = config.volume_patch.spacing_mm_zyx;
  std::size_t chosen = 0;
  for (std::size_t k = 1; k < image.volume->levels.size(); ++k) {
    const auto spacing = level_spacing_mm_zyx(image, k, config);
    bool fine_enough = true;
    for (std::size_t axis = 0; axis < 3; ++axis)
      fine_enough &= spacing[axis] <= std::max(target[axis], finest[axis]) * 1.001;
    if (fine_enough) chosen = k;
  }
  return chosen;
}

}  // namespace headrace::loader
