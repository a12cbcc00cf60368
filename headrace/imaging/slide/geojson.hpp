#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::imaging {

/// One closed ring of (x, y) vertices, pixels of level 0, origin at the top left.
using Ring = std::vector<std::array<double, 2>>;

/// The kind of an object in QuPath: properties.objectType (object_type, type), or the id of QuPath
/// 0.2; an annotation where the file states none.
enum class ObjectKind { annotation, detection, cell, tile, tma_core };

struct AnnotatedPolygon {
  std::string class_name;   ///< classification.name; empty when the object has none
  std::vector<Ring> rings;  ///< outer first, then holes
  ObjectKind kind = ObjectKind::annotation;
};

/// The contents of a GeoJSON file.
struct AnnotationFile {
  std::vector<AnnotatedPolygon> polygons;
  std::size_t points = 0, lines = 0;  ///< geometries without an area
};

/// A QuPath GeoJSON file, plain or gzip: a FeatureCollection, a Feature or a list of features, with
/// nested childObjects after their parent; Polygon, MultiPolygon (one polygon each) and
/// GeometryCollection; points and lines are counted. A cell gives its own outline, not that of its
/// nucleus. Whether an object is locked does not matter.
///
/// errors  not_found, malformed, unsupported (another geometry), memory (over 1 GiB, or inflated
///         beyond what such a file can give); each names the file and the feature by its index
AnnotationFile read_geojson(const std::string& path);

/// Polygons prepared to be painted window by window: an edge is visited only where its polygon's
/// box meets the window. Safe from any thread.
class PolygonRaster {
 public:
  /// Coordinates are multiplied by `scale` first. values[i] belongs to polygons[i].
  /// Errors: usage (not one value for each polygon).
  PolygonRaster(const std::vector<AnnotatedPolygon>& polygons,
                const std::vector<std::uint8_t>& values, double scale);

  /// Paints rows [y0, y0 + height), columns [x0, x0 + width) into dst: pixels whose centre is
  /// inside (even-odd over all rings, left and upper edges belong to a polygon) get the polygon's
  /// value, later polygons over earlier ones; others stay.
  void paint(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
             std::uint8_t* dst, std::int64_t row_stride_bytes) const;

 private:
  struct Edge {
    double top_y, top_x, bottom_y, bottom_x;
  };
  struct Shape {
    double min_y, min_x, max_y, max_x;
    std::uint8_t value;
    std::vector<Edge> edges;
  };
  std::vector<Shape> shapes_;
};

/// PolygonRaster for a single window.
void rasterize(const std::vector<AnnotatedPolygon>& polygons,
               const std::vector<std::uint8_t>& values, double scale, std::int64_t y0,
               std::int64_t x0, std::int64_t height, std::int64_t width, std::uint8_t* dst,
               std::int64_t row_stride_bytes);

}  // namespace headrace::imaging
