#pragma once
#include <array>

#include "headrace/transform/slide/matrix3.hpp"

namespace headrace::transform {

/// Ruifrok's H, E and DAB as columns (as published, rows: [.65 .70 .29], [.07 .99 .11], [.27 .57
/// .78]): od = stains · c. source  Ruifrok and Johnston, Anal. Quant. Cytol. Histol. 23, 2001
Mat3 ruifrok_stains();

/// Amounts of haematoxylin and eosin from OD, (2, 3) row-major: the pseudo-inverse of two stain
/// vectors, and for Ruifrok's the first rows of the inverse of H, E and DAB together. Errors:
/// malformed, where the two vectors of `whose` coincide.
std::array<double, 6> stain_unmixing(const std::array<double, 6>& stain_od_rgb_he,
                                     const char* whose = "the image");
std::array<double, 6> ruifrok_unmixing();

}  // namespace headrace::transform
