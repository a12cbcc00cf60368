#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::imaging {

/// One closed ring of (x, y) vertices, pixels of level 0, origin at the top left.
using Ring = std::vector<std::array<double, 2>>;

struct AnnotatedPolygon {
  std::string class_name;   ///< classification.name; empty when the object has none
  std::vector<Ring> rings;  ///< outer first, then holes
};

/// Polygons of a QuPath GeoJSON file (FeatureCollection, Feature or a list of features; Polygon and
/// MultiPolygon). Errors: not_found, malformed (names the feature), unsupported geometry.
std::vector<AnnotatedPolygon> read_geojson(const std::string& path);

/// Paints polygons into rows [y0, y0 + height) of a label image: pixel centres inside (even-odd)
/// get the polygon's value. Coordinates are multiplied by `scale` first. values[i] belongs to
/// polygons[i]; later polygons paint over earlier ones.
void rasterize(const std::vector<AnnotatedPolygon>& polygons,
               const std::vector<std::uint8_t>& values, double scale, std::int64_t y0,
               std::int64_t x0, std::int64_t height, std::int64_t width, std::uint8_t* dst,
               std::int64_t row_stride_bytes);

}  // namespace headrace::imaging
