#include "headrace/loader/plan/enlargement.hpp"

#include <algorithm>

#include "headrace/loader/plan/plan_images.hpp"

namespace headrace::loader {

double enlargement(const cohort::ImageRecord& image, const LoaderConfig& config) {
  if (config.patch_in_level0_pixels) return 1;
  double most = 0;
  if (image.volume) {
    const auto& own = image.volume->levels.front().spacing_mm_zyx;
    for (std::size_t axis = 0; axis < 3; ++axis)
      most = std::max(most, own[axis] / config.volume_patch.spacing_mm_zyx[axis]);
    return most;
  }
  if (!image.has_mpp) return 1;
  for (const double mpp : image.levels.front().mpp_yx) most = std::max(most, mpp);
  return most / config.patch.mpp;
}

double most_enlarged_in_training(const cohort::Cohort& cohort, const LoaderConfig& config) {
  double most = 0;
  for (const std::uint32_t image : detail::training_images(cohort, config))
    most = std::max(most, enlargement(cohort.images()[image], config));
  return most > kMostEnlarged * (1 + kSameSize) ? most : 0;
}

}  // namespace headrace::loader
