#pragma once
#include <array>

#include "headrace/core/image_colour.hpp"
#include "headrace/loader/config/preprocessing.hpp"

namespace headrace::predict {

/// Degrees between a stain of the slide and of the reference from which the stain is another one.
/// In the repository's samples two H&E slides of any scanner differ by at most 38.6°, a
/// fluorescence slide from all of them by at least 52.8°; 45° is the geometric mean. So another
/// kind of picture is found, but not every other stain: DAB lies about 30° from some eosins.
inline constexpr double kStainLimitDegrees = 45;

/// Degrees between unit optical-density vectors: haematoxylin and eosin of the slide, and of the
/// reference. Both need has_stain; range 0 to 180.
std::array<double, 2> stain_angles(const std::array<double, 6>& stain_od_rgb_he,
                                   const std::array<double, 6>& reference_od_rgb_he);

/// Distance of colours from which a slide is unlike the run's. In the samples 2.5 is the largest
/// between two H&E images, 5.1 the smallest between a fluorescence slide and any; 3.5 is the
/// geometric mean.
inline constexpr double kColourLimit = 3.5;

/// How far the mean optical density of a slide's tissue (r, g, b) lies from the run's: the Euclidean
/// distance of the means, in units of the run's whole standard deviation (the root of the sum of its
/// channels' variances). Both need pixels; 0 where the run's is 0.
double colour_distance(const ImageColour& colour, const loader::OdStats& run);

}  // namespace headrace::predict
