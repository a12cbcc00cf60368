#include "headrace/imaging/slide/geojson.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/byte_source.hpp"
#include "headrace/imaging/whole_file.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostInflation = 100;  // coordinates in text give 3 to 15
constexpr double kMaxCoordinate = 1e9;
constexpr int kMaxDepth = 64;

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

pixels::Ring read_ring(const Json& json) {
  if (!json.is_array())
    fail(ErrorCode::malformed, "a ring of the polygon is not a list of positions");
  pixels::Ring ring;
  ring.reserve(json.size());
  for (const Json& position : json) {
    if (!position.is_array() || position.size() < 2 || !position[0].is_number() ||
        !position[1].is_number()) {
      fail(ErrorCode::malformed, "position {} of a ring is not a pair of numbers", ring.size());
    }
    const double x = position[0].get<double>(), y = position[1].get<double>();
    if (!(std::abs(x) <= kMaxCoordinate && std::abs(y) <= kMaxCoordinate)) {
      fail(ErrorCode::malformed, "position {} of a ring, ({}, {}), is not a place on a slide",
           ring.size(), x, y);
    }
    ring.push_back({x, y});
  }
  if (ring.size() > 1 && ring.front() == ring.back()) ring.pop_back();
  if (ring.size() < 3)
    fail(ErrorCode::malformed, "a ring has {} different positions, 3 are needed", ring.size());
  ring.push_back(ring.front());
  return ring;
}

/// Properties common to all geometries of a feature.
struct Properties {
  std::string class_name;
  ObjectKind kind = ObjectKind::annotation;
};

void add_polygon(const Json& rings, const Properties& properties, AnnotationFile& out) {
  if (!rings.is_array() || rings.empty()) fail(ErrorCode::malformed, "the polygon has no rings");
  AnnotatedPolygon polygon;
  polygon.class_name = properties.class_name;
  polygon.kind = properties.kind;
  for (const Json& ring : rings) polygon.rings.push_back(read_ring(ring));
  out.polygons.push_back(std::move(polygon));
}

void add_geometry(const Json& geometry, const Properties& properties, int depth,
                  AnnotationFile& out) {
  if (depth > kMaxDepth) fail(ErrorCode::malformed, "geometries nest over {} deep", kMaxDepth);
  const Json* type = member(geometry, "type");
  if (type == nullptr || !type->is_string()) fail(ErrorCode::malformed, "the geometry has no type");
  const auto name = type->get<std::string>();
  if (name == "GeometryCollection") {
    const Json* list = member(geometry, "geometries");
    if (list == nullptr || !list->is_array())
      fail(ErrorCode::malformed, "the GeometryCollection has no geometries");
    for (const Json& part : *list) add_geometry(part, properties, depth + 1, out);
    return;
  }
  if (name == "Point" || name == "MultiPoint") {
    ++out.points;
    return;
  }
  if (name == "LineString" || name == "MultiLineString") {
    ++out.lines;
    return;
  }
  if (name != "Polygon" && name != "MultiPolygon") {
    fail(ErrorCode::unsupported, "geometry {} is not one of GeoJSON's (RFC 7946)", name);
  }
  const Json* coordinates = member(geometry, "coordinates");
  if (coordinates == nullptr || !coordinates->is_array())
    fail(ErrorCode::malformed, "the {} has no coordinates", name);
  if (name == "Polygon") return add_polygon(*coordinates, properties, out);
  for (const Json& rings : *coordinates) add_polygon(rings, properties, out);
}

/// properties.classification: {"name": …}, {"names": […]} (joined as QuPath shows them) or, in
/// other tools, a string.
std::string class_of(const Json& feature) {
  const Json* properties = member(feature, "properties");
  const Json* classification =
      properties != nullptr ? member(*properties, "classification") : nullptr;
  if (classification == nullptr) return "";
  if (classification->is_string()) return classification->get<std::string>();
  if (const Json* name = member(*classification, "name")) {
    if (!name->is_string()) fail(ErrorCode::malformed, "classification.name is not text");
    return name->get<std::string>();
  }
  std::string joined;
  if (const Json* names = member(*classification, "names"); names != nullptr && names->is_array()) {
    for (const Json& part : *names) {
      if (!part.is_string())
        fail(ErrorCode::malformed, "classification.names holds something that is not text");
      joined += (joined.empty() ? "" : ": ") + part.get<std::string>();
    }
  }
  return joined;
}

/// source: QuPath, PathObjectTypeAdapters: the names of its types, and those that version 0.2 wrote
/// as `id`; any other becomes an annotation there too.
ObjectKind kind_of(const Json& feature) {
  struct Name {
    const char *now, *before;
    ObjectKind kind;
  };
  constexpr std::array kNames{Name{"detection", "PathDetectionObject", ObjectKind::detection},
                              Name{"cell", "PathCellObject", ObjectKind::cell},
                              Name{"tile", "PathTileObject", ObjectKind::tile},
                              Name{"tma_core", "TMACoreObject", ObjectKind::tma_core}};
  const Json* properties = member(feature, "properties");
  const Json* said = nullptr;
  for (const char* key : {"objectType", "object_type", "type"}) {
    if (properties != nullptr && said == nullptr) said = member(*properties, key);
  }
  if (said == nullptr) said = member(feature, "id");
  if (said == nullptr || !said->is_string()) return ObjectKind::annotation;
  const auto text = said->get<std::string>();
  const auto found = std::find_if(kNames.begin(), kNames.end(), [&](const Name& name) {
    return text == name.now || text == name.before;
  });
  return found == kNames.end() ? ObjectKind::annotation : found->kind;
}

void add_features(const Json& list, const std::string& what, int depth, AnnotationFile& out);

void add_feature(const Json& feature, int depth, AnnotationFile& out) {
  const Json* type = member(feature, "type");
  if (type == nullptr || *type != "Feature")
    fail(ErrorCode::malformed, "this is not a GeoJSON Feature");
  if (const Json* geometry = member(feature, "geometry"))
    add_geometry(*geometry, {class_of(feature), kind_of(feature)}, 0, out);
  const Json* properties = member(feature, "properties");
  for (const char* name : {"childObjects", "children"}) {
    if (const Json* list = member(feature, name)) add_features(*list, "child", depth + 1, out);
    if (properties == nullptr) continue;
    if (const Json* list = member(*properties, name)) add_features(*list, "child", depth + 1, out);
  }
}

void add_features(const Json& list, const std::string& what, int depth, AnnotationFile& out) {
  if (!list.is_array()) fail(ErrorCode::malformed, "the {} features are not a list", what);
  if (depth > kMaxDepth)
    fail(ErrorCode::malformed, "features are nested more than {} deep", kMaxDepth);
  for (std::size_t i = 0; i < list.size(); ++i) {
    with_context(fmt::format("{} {}", what, i), [&] { add_feature(list[i], depth, out); });
  }
}

[[noreturn]] void too_large(const std::string& path, const std::string& what, std::uint64_t limit) {
  fail(ErrorCode::memory, "{}: {} of GeoJSON; at most {} bytes are read", path, what, limit);
}

std::string read_text(const std::string& path) {
  ByteSource source(path);
  if (!source.compressed()) {
    if (source.file_bytes() > kMaxFileBytes)
      too_large(path, fmt::format("{} bytes", source.file_bytes()), kMaxFileBytes);
    std::string text(source.file_bytes(), '\0');
    source.read(0, text.data(), text.size());
    return text;
  }
  constexpr std::size_t kStep = std::size_t{1} << 20;
  const std::uint64_t limit = std::min(kMaxFileBytes, source.file_bytes() * kMostInflation + kStep);
  std::string text;
  for (std::size_t there = kStep; there == kStep;) {
    const std::size_t at = text.size();
    if (at + kStep > limit) too_large(path, "gzip holds more", limit);
    text.resize(at + kStep);
    there = source.read_some(at, text.data() + at, kStep);
    text.resize(at + there);
  }
  return text;
}

}  // namespace

AnnotationFile read_geojson(const std::string& path) {
  const Json json = parse_json(read_text(path), path);
  AnnotationFile found;
  with_context(path, [&] {
    if (json.is_array()) return add_features(json, "feature", 0, found);
    const Json* features = member(json, "features");
    if (features != nullptr) return add_features(*features, "feature", 0, found);
    with_context("feature 0", [&] { add_feature(json, 0, found); });
  });
  return found;
}

}  // namespace headrace::imaging
