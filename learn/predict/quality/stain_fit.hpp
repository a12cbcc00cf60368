#pragma once
#include "headrace/core/image_colour.hpp"
#include "headrace/loader/plan/preprocessing.hpp"

namespace headrace::predict {

/// Distance of colours from which a slide is unlike the run's. In the samples 2.5 is the largest
/// between two H&E images, 5.1 the smallest between a fluorescence slide and any; 3.5 is the
/// geometric mean.
inline constexpr double kColourLimit = 3.5;

/// How far the mean optical density of a slide's tissue (r, g, b) lies from the run's: the Euclidean
/// distance of the means, in units of the run's whole standard deviation (the root of the sum of its
/// channels' variances). Both need pixels; 0 where the run's is 0.
double colour_distance(const ImageColour& colour, const loader::OdStats& run);

}  // namespace headrace::predict
