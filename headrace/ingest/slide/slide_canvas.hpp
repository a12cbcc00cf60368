#pragma once
#include <optional>

#include "headrace/core/geometry.hpp"
#include "headrace/ingest/slide/cascade.hpp"

namespace headrace::ingest {

/// Level 0 of a slide, and the part of it that was scanned, where the file says that it is not the
/// whole: MIRAX and Leica SCN lay the scan on a larger canvas. OpenSlide and ASAP count from the
/// canvas; QuPath, which crops to the scan, counts from the scan's first pixel.
struct SlideCanvas {
  LevelSize size;
  std::optional<Box2> scan;  ///< inside the canvas, and smaller
};

}  // namespace headrace::ingest
