#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::imaging {

/// The kind of an object in QuPath: properties.objectType (object_type, type), or the id of QuPath
/// 0.2; an annotation where the file states none. tma_core has no name: no option takes it.
enum class ObjectKind { annotation, detection, cell, tile, tma_core };

}  // namespace headrace::imaging

namespace headrace {
template <>
inline constexpr auto kNamesOf<imaging::ObjectKind> =
    names<imaging::ObjectKind>({{imaging::ObjectKind::annotation, "annotation"},
                                {imaging::ObjectKind::detection, "detection"},
                                {imaging::ObjectKind::cell, "cell"},
                                {imaging::ObjectKind::tile, "tile"}});
}  // namespace headrace

namespace headrace::imaging {

struct AnnotatedPolygon {
  std::string class_name;  ///< classification.name; empty when the object has none
  /// Outer first, then holes; pixels of level 0, origin at the top left.
  std::vector<pixels::Ring> rings;
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

}  // namespace headrace::imaging
