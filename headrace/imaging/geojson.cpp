#include "headrace/imaging/geojson.hpp"

#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/whole_file.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;
constexpr double kMaxCoordinate = 1e9;
constexpr int kMaxDepth = 64;

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Ring read_ring(const Json& json) {
  if (!json.is_array()) fail(ErrorCode::malformed, "a ring of the polygon is no list of positions");
  Ring ring;
  ring.reserve(json.size());
  for (const Json& position : json) {
    if (!position.is_array() || position.size() < 2 || !position[0].is_number() ||
        !position[1].is_number()) {
      fail(ErrorCode::malformed, "position {} of a ring is no pair of numbers", ring.size());
    }
    const double x = position[0].get<double>(), y = position[1].get<double>();
    if (!(std::abs(x) <= kMaxCoordinate && std::abs(y) <= kMaxCoordinate)) {
      fail(ErrorCode::malformed, "position {} of a ring, ({}, {}), is no place on a slide",
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

void add_polygon(const Json& rings, const std::string& class_name,
                 std::vector<AnnotatedPolygon>& out) {
  if (!rings.is_array() || rings.empty()) fail(ErrorCode::malformed, "the polygon has no rings");
  AnnotatedPolygon polygon;
  polygon.class_name = class_name;
  for (const Json& ring : rings) polygon.rings.push_back(read_ring(ring));
  out.push_back(std::move(polygon));
}

void add_geometry(const Json& geometry, const std::string& class_name, int depth,
                  std::vector<AnnotatedPolygon>& out) {
  if (depth > kMaxDepth) fail(ErrorCode::malformed, "geometries nest over {} deep", kMaxDepth);
  const Json* type = member(geometry, "type");
  if (type == nullptr || !type->is_string()) fail(ErrorCode::malformed, "the geometry has no type");
  const auto name = type->get<std::string>();
  if (name == "GeometryCollection") {
    const Json* list = member(geometry, "geometries");
    if (list == nullptr || !list->is_array())
      fail(ErrorCode::malformed, "the GeometryCollection has no geometries");
    for (const Json& part : *list) add_geometry(part, class_name, depth + 1, out);
    return;
  }
  if (name != "Polygon" && name != "MultiPolygon") {
    fail(ErrorCode::unsupported, "geometry {} has no area; Polygon and MultiPolygon are read",
         name);
  }
  const Json* coordinates = member(geometry, "coordinates");
  if (coordinates == nullptr || !coordinates->is_array())
    fail(ErrorCode::malformed, "the {} has no coordinates", name);
  if (name == "Polygon") return add_polygon(*coordinates, class_name, out);
  for (const Json& rings : *coordinates) add_polygon(rings, class_name, out);
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
    if (!name->is_string()) fail(ErrorCode::malformed, "classification.name is no text");
    return name->get<std::string>();
  }
  std::string joined;
  if (const Json* names = member(*classification, "names"); names != nullptr && names->is_array()) {
    for (const Json& part : *names) {
      if (!part.is_string())
        fail(ErrorCode::malformed, "classification.names holds something that is no text");
      joined += (joined.empty() ? "" : ": ") + part.get<std::string>();
    }
  }
  return joined;
}

void add_features(const Json& list, const std::string& what, int depth,
                  std::vector<AnnotatedPolygon>& out);

void add_feature(const Json& feature, int depth, std::vector<AnnotatedPolygon>& out) {
  const Json* type = member(feature, "type");
  if (type == nullptr || *type != "Feature")
    fail(ErrorCode::malformed, "this is no GeoJSON Feature");
  if (const Json* geometry = member(feature, "geometry"))
    add_geometry(*geometry, class_of(feature), 0, out);
  const Json* properties = member(feature, "properties");
  for (const char* name : {"childObjects", "children"}) {
    if (const Json* list = member(feature, name)) add_features(*list, "child", depth + 1, out);
    if (properties == nullptr) continue;
    if (const Json* list = member(*properties, name)) add_features(*list, "child", depth + 1, out);
  }
}

void add_features(const Json& list, const std::string& what, int depth,
                  std::vector<AnnotatedPolygon>& out) {
  if (!list.is_array()) fail(ErrorCode::malformed, "the {} features are no list", what);
  if (depth > kMaxDepth)
    fail(ErrorCode::malformed, "features are nested more than {} deep", kMaxDepth);
  for (std::size_t i = 0; i < list.size(); ++i) {
    with_context(fmt::format("{} {}", what, i), [&] { add_feature(list[i], depth, out); });
  }
}

}  // namespace

std::vector<AnnotatedPolygon> read_geojson(const std::string& path) {
  const FileBytes file(path);
  if (file.size() > kMaxFileBytes) {
    fail(ErrorCode::memory, "{}: {} bytes of GeoJSON; at most {} are read", path, file.size(),
         kMaxFileBytes);
  }
  const auto bytes = file.head(file.size());
  const Json json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  std::vector<AnnotatedPolygon> polygons;
  with_context(path, [&] {
    if (json.is_array()) return add_features(json, "feature", 0, polygons);
    const Json* features = member(json, "features");
    if (features != nullptr) return add_features(*features, "feature", 0, polygons);
    with_context("feature 0", [&] { add_feature(json, 0, polygons); });
  });
  return polygons;
}

}  // namespace headrace::imaging
