#include "headrace/imaging/slide/geojson.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/json_depth.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/storage/byte_source.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 30;
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
  return ring;
}

/// Properties common to all geometries of a feature.
struct Properties {
  std::string class_name;
  ObjectKind kind = ObjectKind::annotation;
};

void add_rings(const Json& rings, const Properties& properties, AnnotationFile& out) {
  if (!rings.is_array()) fail(ErrorCode::malformed, "the polygon has no rings");
  std::vector<pixels::Ring> read;
  for (const Json& ring : rings) read.push_back(read_ring(ring));
  add_polygon(std::move(read), properties.class_name, {}, properties.kind, out);
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
  if (name == "Polygon") return add_rings(*coordinates, properties, out);
  if (coordinates->empty()) ++out.degenerate_polygons;
  for (const Json& rings : *coordinates) add_rings(rings, properties, out);
}

std::string class_text(const Json& classification, int depth);

/// {"name": …}, {"names": […]} or, before QuPath 0.4, {"name": …, "parentClass": {…}}; joined as
/// QuPath shows derived classes.
std::string class_of_object(const Json& classification, int depth) {
  if (const Json* name = member(classification, "name")) {
    if (!name->is_string()) fail(ErrorCode::malformed, "classification.name is not text");
    const auto own = name->get<std::string>();
    const Json* parent = member(classification, "parentClass");
    const std::string above = parent != nullptr ? class_text(*parent, depth + 1) : "";
    return above.empty() || own.starts_with(above + ":") ? own : above + ": " + own;
  }
  const Json* names = member(classification, "names");
  return names != nullptr ? class_text(*names, depth + 1) : "";
}

/// A text that other programs made of the object: JSON, or the same with Python's quotes. Nothing
/// for other texts, which are names.
std::optional<Json> object_in(const std::string& text) {
  if (text.find_first_of("{[") != 0) return std::nullopt;
  Json json = json_or_discarded(text);
  if (json.is_discarded()) {
    std::string quoted = text;
    std::replace(quoted.begin(), quoted.end(), '\'', '"');
    json = json_or_discarded(quoted);
  }
  return json.is_discarded() ? std::nullopt : std::optional(json);
}

std::string class_text(const Json& classification, int depth) {
  if (depth > kMaxDepth) fail(ErrorCode::malformed, "classifications nest over {} deep", kMaxDepth);
  if (classification.is_null()) return "";
  if (classification.is_string()) {
    const auto text = classification.get<std::string>();
    const auto object = object_in(text);
    return object ? class_text(*object, depth + 1) : text;
  }
  if (classification.is_object()) return class_of_object(classification, depth);
  if (!classification.is_array())
    fail(ErrorCode::malformed, "the classification is neither text nor an object");
  std::string joined;
  for (const Json& part : classification) {
    if (!part.is_string())
      fail(ErrorCode::malformed, "classification.names holds something that is not text");
    joined += (joined.empty() ? "" : ": ") + part.get<std::string>();
  }
  return joined;
}

std::string class_of(const Json& feature) {
  const Json* properties = member(feature, "properties");
  const Json* classification =
      properties != nullptr ? member(*properties, "classification") : nullptr;
  return classification != nullptr ? class_text(*classification, 0) : "";
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

bool is_geometry(const Json& type) {
  constexpr std::array<std::string_view, 7> kTypes{
      "Polygon",    "MultiPolygon", "GeometryCollection", "Point",
      "MultiPoint", "LineString",   "MultiLineString"};
  return type.is_string() && std::find(kTypes.begin(), kTypes.end(),
                                       type.get_ref<const std::string&>()) != kTypes.end();
}

void add_feature(const Json& feature, int depth, AnnotationFile& out) {
  const Json* type = member(feature, "type");
  if (type == nullptr) fail(ErrorCode::malformed, "this is not a GeoJSON Feature");
  if (*type == "FeatureCollection") {
    const Json* features = member(feature, "features");
    if (features == nullptr) fail(ErrorCode::malformed, "the FeatureCollection has no features");
    return add_features(*features, "feature", depth + 1, out);
  }
  if (*type != "Feature" && !is_geometry(*type))
    fail(ErrorCode::malformed, "this is not a GeoJSON Feature");
  ++out.objects;
  if (is_geometry(*type)) return add_geometry(feature, {}, 0, out);
  if (const Json* geometry = member(feature, "geometry")) {
    add_geometry(*geometry, {class_of(feature), kind_of(feature)}, 0, out);
  } else {
    ++out.empty;
  }
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
  storage::ByteSource source(storage::open_input(path));
  if (!source.compressed()) {
    if (source.stored_bytes() > kMostTextBytes)
      too_large(path, fmt::format("{} bytes", source.stored_bytes()), kMostTextBytes);
    std::string text(source.stored_bytes(), '\0');
    source.read(0, text.data(), text.size());
    return text;
  }
  constexpr std::size_t kStep = std::size_t{1} << 20;
  const std::uint64_t limit =
      std::min(kMostTextBytes, source.stored_bytes() * kMostInflation + kStep);
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

/// Whether a ring encloses nothing: all of its places are on a line.
bool on_a_line(const pixels::Ring& ring) {
  const auto other = std::find_if(ring.begin(), ring.end(),
                                  [&](const auto& place) { return place != ring.front(); });
  if (other == ring.end()) return true;
  const double x = (*other)[0] - ring.front()[0], y = (*other)[1] - ring.front()[1];
  return std::all_of(ring.begin(), ring.end(), [&](const auto& place) {
    return x * (place[1] - ring.front()[1]) == y * (place[0] - ring.front()[0]);
  });
}

/// Whether two rings without closing place are the same, from whichever place and in whichever
/// direction they go.
bool same_ring(const pixels::Ring& a, const pixels::Ring& b) {
  if (a.size() != b.size()) return false;
  pixels::Ring turned = b;
  for (int direction = 0; direction < 2; ++direction) {
    const auto start = std::find(turned.begin(), turned.end(), a.front());
    if (start == turned.end()) return false;
    std::rotate(turned.begin(), start, turned.end());
    if (turned == a) return true;
    std::reverse(turned.begin(), turned.end());
  }
  return false;
}

}  // namespace

void add_polygon(std::vector<pixels::Ring> rings, const std::string& class_name,
                 const std::vector<std::string>& groups, ObjectKind kind, AnnotationFile& out) {
  std::vector<pixels::Ring> kept;
  for (pixels::Ring& ring : rings) {
    if (ring.size() > 1 && ring.front() == ring.back()) ring.pop_back();
    const bool nothing = ring.size() < 3 || on_a_line(ring);
    if (nothing && kept.empty()) break;
    // By the even-odd rule a ring that stands there twice would empty the polygon.
    const bool twice = std::any_of(kept.begin(), kept.end(), [&](const pixels::Ring& other) {
      return same_ring(other, ring);
    });
    if (nothing || twice) {
      ++out.degenerate_holes;
    } else {
      kept.push_back(std::move(ring));
    }
  }
  if (kept.empty()) {
    ++out.degenerate_polygons;
    return;
  }
  for (pixels::Ring& ring : kept) ring.push_back(ring.front());
  out.polygons.push_back({class_name, groups, std::move(kept), kind});
}

namespace {

/// The text with null for NaN, Infinity and -Infinity where they are the value of a key: JSON has
/// none of them, but QuPath before 0.5 and Python write them into measurements, which are not read.
/// Those of a list, as coordinates are, stay.
std::string without_not_finite(std::string_view text) {
  constexpr std::array<std::string_view, 3> kWords{"NaN", "Infinity", "-Infinity"};
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  char last = ' ';  // the last that is no blank
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\' && i + 1 < text.size()) {
        out += c;
        out += text[++i];
        continue;
      }
      quoted = c != '"';
    } else if (last == ':') {
      const auto word = std::find_if(kWords.begin(), kWords.end(), [&](std::string_view one) {
        return text.substr(i).starts_with(one);
      });
      if (word != kWords.end()) {
        out += "null";
        i += word->size() - 1;
        last = 'l';
        continue;
      }
      quoted = c == '"';
    } else {
      quoted = c == '"';
    }
    out += c;
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') last = c;
  }
  return out;
}

Json parse_annotations(const std::string& text, const std::string& path) {
  try {
    return parse_json(text, path);
  } catch (const Error&) {
    const std::string finite = without_not_finite(text);
    Json json = finite == text ? Json(Json::value_t::discarded) : json_or_discarded(finite);
    if (json.is_discarded()) throw;
    return json;
  }
}

}  // namespace

AnnotationFile read_geojson(const std::string& path) {
  const Json json = parse_annotations(text_of_bytes(read_text(path), path), path);
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
