#pragma once
#include <array>

namespace headrace::pixels {

/// Haematoxylin and eosin as unit optical-density vectors, (3, 2) row-major.
/// source  Macenko et al. 2009, the reference of their implementation
inline constexpr std::array<double, 6> kReferenceOdRgbHe{0.5626, 0.2159, 0.7201,
                                                         0.8012, 0.4062, 0.5581};

/// Degrees between a stain of the slide and of the reference from which the stain is another one.
/// In the repository's samples two H&E slides of any scanner differ by at most 38.6°, a
/// fluorescence slide from all of them by at least 52.8°; 45° is the geometric mean. So another
/// kind of picture is found, but not every other stain: DAB lies about 30° from some eosins.
inline constexpr double kStainLimitDegrees = 45;

/// Degrees between unit optical-density vectors: haematoxylin and eosin of the slide, and of the
/// reference. Both need has_stain; range 0 to 180.
std::array<double, 2> stain_angles(const std::array<double, 6>& stain_od_rgb_he,
                                   const std::array<double, 6>& reference_od_rgb_he);

}  // namespace headrace::pixels
