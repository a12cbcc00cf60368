#pragma once
#include <cstdint>
#include <optional>

#include "headrace/ingest/slide/slide_canvas.hpp"

namespace headrace::ingest {

/// Where the pixels of a mask lie on its image: pixel (y, x) covers rows [y * scale, (y + 1) *
/// scale) of what it shows, and the columns alike. scale: 0 where the sizes don't fit.
struct MaskPlace {
  std::int64_t scale = 0;
  LevelSize mask;
  Box2 shown = {};         ///< what it shows: the canvas, or the scan on it
  std::int64_t other = 0;  ///< of place_on_canvas: the scale by which it is the scan as well
};

/// A mask has its image's size divided by a whole number; rounded up or down where that does not
/// divide, as pyramids are; and of full size it may differ by one pixel. Where several numbers fit
/// a small mask, an exact one is taken, then a power of two, then the nearest.
MaskPlace place_mask(LevelSize mask, LevelSize image);

/// The same of a slide whose scan may be a part of its canvas: a mask has the size of either. Where
/// it fits both in different places, `other` is set, and nothing says which is meant.
MaskPlace place_on_canvas(LevelSize mask, const SlideCanvas& canvas);

}  // namespace headrace::ingest
