#pragma once
#include <cstdint>

#include "headrace/pixels/tissue/mask.hpp"

namespace headrace::pixels {

/// Clears objects (8-connected) of fewer than `min_px` pixels.
void remove_small_objects(Mask& mask, std::int64_t min_px);

/// Fills holes (4-connected background that does not touch the image's edge) of fewer than `min_px`
/// pixels.
void fill_small_holes(Mask& mask, std::int64_t min_px);

}  // namespace headrace::pixels
