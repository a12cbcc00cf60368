#pragma once
#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader {

/// Beyond this, an image has less detail than what a network was trained to look at.
inline constexpr double kMostEnlarged = 2;
/// Pixel sizes that differ by less are taken as equal: scanners are not calibrated better.
inline constexpr double kSameSize = 0.01;

/// How many pixels (voxels) of the run's patch one of the image's level 0 becomes, along the axis
/// where that is most. 1 where the run takes level 0 as it is, or the image states no size.
double enlargement(const cohort::ImageRecord& image, const LoaderConfig& config);

/// The largest of the training split's images, if that is beyond kMostEnlarged; else 0: no more is
/// known to work than that.
double most_enlarged_in_training(const cohort::Cohort& cohort, const LoaderConfig& config);

}  // namespace headrace::loader
