#pragma once
#include "headrace/ingest/tissue/mask.hpp"

namespace headrace::ingest {

/// Binary dilation and erosion by a square of (2·radius + 1)² pixels, separable: cost does not
/// depend on the radius. Outside of the image counts as what changes nothing (0 for dilation, 1 for
/// erosion), as scikit-image has it.
Mask dilate(const Mask& mask, int radius);
Mask erode(const Mask& mask, int radius);
inline Mask close(const Mask& mask, int radius) { return erode(dilate(mask, radius), radius); }
inline Mask open(const Mask& mask, int radius) { return dilate(erode(mask, radius), radius); }

}  // namespace headrace::ingest
