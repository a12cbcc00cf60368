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
  std::string class_name;  ///< "Tumor", "Tumor: Positive" of QuPath; empty when the object has none
  std::vector<std::string> groups = {};  ///< of ASAP: further out, the groups that hold its group
  /// Outer first, then holes; pixels of level 0, origin at the top left.
  std::vector<pixels::Ring> rings;
  ObjectKind kind = ObjectKind::annotation;
};

/// The contents of a file of polygons.
struct AnnotationFile {
  std::vector<AnnotatedPolygon> polygons;
  std::size_t objects = 0;            ///< all that the file lists, of whatever kind
  std::size_t points = 0, lines = 0;  ///< geometries without an area
  std::size_t empty = 0;              ///< objects without a geometry
  /// Polygons and holes that enclose nothing (fewer than three places, or all on a line), and holes
  /// that repeat another ring of their polygon: left out.
  std::size_t degenerate_polygons = 0, degenerate_holes = 0;
};

/// Adds a polygon whose rings need not be closed, or counts it as degenerate.
void add_polygon(std::vector<pixels::Ring> rings, const std::string& class_name,
                 const std::vector<std::string>& groups, ObjectKind kind, AnnotationFile& out);

/// A QuPath GeoJSON file, plain or gzip: a FeatureCollection, a Feature, a list of these or a bare
/// geometry, with nested childObjects after their parent; Polygon, MultiPolygon (one polygon each)
/// and GeometryCollection; points and lines are counted. A cell gives its own outline, not that of
/// its nucleus. Whether an object is locked does not matter. A class is a text, or an object as
/// QuPath writes it: with name, with names, with name and parentClass, or such an object as text.
/// NaN and Infinity are null where they are the value of a key, as in measurements.
///
/// errors  not_found, malformed, unsupported (another geometry), memory (over 1 GiB, or inflated
///         beyond what such a file can give); each names the file and the feature by its index
AnnotationFile read_geojson(const std::string& path);

}  // namespace headrace::imaging
