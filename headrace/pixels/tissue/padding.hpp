#pragma once
#include "headrace/pixels/image.hpp"
#include "headrace/pixels/tissue/mask.hpp"

namespace headrace::pixels {

/// Where an image shows nothing of a scan: what programs fill the canvas with outside of it. Those
/// are large areas of one colour: black (no channel above 24, in a quarter of the area
/// none above 8) wherever they lie, other colours that are not glass only where they reach the image's edge, there to
/// within 1, and three quarters of them the very same. Tissue, ink and folds are never of one colour
/// over so many pixels (at least 1 in 200, and 64; of black 256 are enough).
///
/// glass: the value of a pixel's darkest channel from which on it is glass in any case.
/// out     the areas and two pixels around them, which compression and averaging mix; empty (of no
///         size) where there is no such area
Mask find_padding(const Image8& rgb, int glass);

}  // namespace headrace::pixels
