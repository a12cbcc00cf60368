#pragma once
#include "headrace/pixels/tissue/mask.hpp"

namespace headrace::pixels {

/// Binary dilation and erosion by a square of (2·radius + 1)² pixels, separable: cost does not
/// depend on the radius. Pixels outside the image count as the neutral value (0 for dilation, 1 for
/// erosion), as in scikit-image.
Mask dilate(const Mask& mask, int radius);
Mask erode(const Mask& mask, int radius);
inline Mask close(const Mask& mask, int radius) { return erode(dilate(mask, radius), radius); }
inline Mask open(const Mask& mask, int radius) { return dilate(erode(mask, radius), radius); }

}  // namespace headrace::pixels
