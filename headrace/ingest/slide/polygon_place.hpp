#pragma once
#include <vector>

#include "headrace/imaging/slide/geojson.hpp"
#include "headrace/ingest/slide/slide_canvas.hpp"

namespace headrace::ingest {

/// What the coordinates of GeoJSON count from.
enum class PolygonOrigin {
  whole,  ///< the slide states no scan that is smaller than its canvas: nothing to choose
  scan,   ///< QuPath's: the scan's first pixel
  canvas  ///< OpenSlide's, where they fit no scan
};

/// Moves polygons to pixels of the canvas. They count from the scan, as QuPath writes them, unless
/// they reach out of a picture of its size, lie inside the canvas, and reach less far out of the
/// scan where they are taken as the canvas's.
PolygonOrigin place_polygons(std::vector<imaging::AnnotatedPolygon>& polygons,
                             const SlideCanvas& canvas);

}  // namespace headrace::ingest
