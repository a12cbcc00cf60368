#include "headrace/zarr/metadata.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "headrace/core/base64.hpp"
#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/strided.hpp"
#include "headrace/zarr/defaults.hpp"
#include "headrace/zarr/fill_value.hpp"

namespace headrace::zarr {
namespace {

const Json& require(const Json& json, const char* field, const std::string& origin) {
  const auto found = json.find(field);
  if (found == json.end()) {
    fail(ErrorCode::malformed, "{}: field '{}' is missing", origin, field);
  }
  return *found;
}

std::vector<std::int64_t> parse_shape(const Json& value, std::int64_t lowest, const char* field,
                                      const std::string& origin) {
  if (!value.is_array()) {
    fail(ErrorCode::malformed, "{}: '{}' is {}, expected a list of integers", origin, field,
         value.dump());
  }
  std::vector<std::int64_t> shape;
  for (const Json& item : value) {
    if (!item.is_number_integer() ||
        (item.is_number_unsigned() &&
         item.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) ||
        item.get<std::int64_t>() < lowest) {
      fail(ErrorCode::malformed, "{}: '{}' holds {}, expected integers of at least {}", origin,
           field, item.dump(), lowest);
    }
    shape.push_back(item.get<std::int64_t>());
  }
  return shape;
}

// An extension point ("name" and "configuration") that must be understood; it may have no other
// fields.
std::string parse_name(const Json& value, const char* field, const std::string& origin,
                       Json& configuration) {
  configuration = Json::object();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) {
    fail(ErrorCode::malformed, "{}: '{}' is {}, expected an object with a name", origin, field,
         value.dump());
  }
  for (const auto& [key, item] : value.items()) {
    if (key == "configuration" && item.is_object()) {
      configuration = item;
    } else if (key != "name") {
      fail(ErrorCode::malformed, "{}: '{}' has the field '{}' ({}), which is not known", origin,
           field, key, item.dump());
    }
  }
  return value["name"].get<std::string>();
}

void check_known(const Json& object, std::initializer_list<const char*> known, const char* field,
                 const std::string& origin) {
  for (const auto& [key, item] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail(ErrorCode::unsupported, "{}: the configuration of '{}' has '{}', which is not known",
           origin, field, key);
    }
  }
}

void parse_dtype_field(const Json& json, const std::string& origin, ArrayMetadata& out) {
  const Json& value = require(json, "data_type", origin);
  Json configuration;
  const std::string name = parse_name(value, "data_type", origin, configuration);
  const std::optional<DType> dtype =
      configuration.empty() ? value_named<DType>(name) : std::nullopt;
  if (!dtype) {
    fail(ErrorCode::unsupported,
         "{}: data_type {} is not supported; supported are bool, int8-64, uint8-64 and float16-64",
         origin, value.dump());
  }
  out.dtype = *dtype;
}

void parse_chunk_grid(const Json& json, const std::string& origin, ArrayMetadata& out) {
  Json configuration;
  const std::string name =
      parse_name(require(json, "chunk_grid", origin), "chunk_grid", origin, configuration);
  if (name != "regular") {
    fail(ErrorCode::unsupported, "{}: chunk_grid '{}' is not supported; 'regular' is", origin,
         name);
  }
  check_known(configuration, {"chunk_shape"}, "chunk_grid", origin);
  out.chunk_shape =
      parse_shape(require(configuration, "chunk_shape", origin), 1, "chunk_shape", origin);
  if (out.chunk_shape.size() != out.shape.size()) {
    fail(ErrorCode::malformed, "{}: chunk_shape has {} axes, the shape has {}", origin,
         out.chunk_shape.size(), out.shape.size());
  }
}

void parse_key_encoding(const Json& json, const std::string& origin, ArrayMetadata& out) {
  Json configuration;
  const std::string name = parse_name(require(json, "chunk_key_encoding", origin),
                                      "chunk_key_encoding", origin, configuration);
  if (name != "default" && name != "v2") {
    fail(ErrorCode::unsupported,
         "{}: chunk_key_encoding '{}' is not supported; 'default' and 'v2' are", origin, name);
  }
  check_known(configuration, {"separator"}, "chunk_key_encoding", origin);
  out.v2_keys = name == "v2";
  const Json separator = configuration.value("separator", Json(out.v2_keys ? "." : "/"));
  if (separator != "/" && separator != ".") {
    fail(ErrorCode::malformed, "{}: chunk key separator is {}, expected \"/\" or \".\"", origin,
         separator.dump());
  }
  out.separator = separator.get<std::string>()[0];
}

void parse_dimension_names(const Json& json, const std::string& origin, ArrayMetadata& out) {
  const auto names = json.find("dimension_names");
  if (names == json.end() || names->is_null()) return;
  if (!names->is_array() || names->size() != out.shape.size()) {
    fail(ErrorCode::malformed, "{}: dimension_names is {}, expected a list of {} names", origin,
         names->dump(), out.shape.size());
  }
  for (const Json& name : *names) {
    if (!name.is_string() && !name.is_null()) {
      fail(ErrorCode::malformed, "{}: dimension_names holds {}, expected text or null", origin,
           name.dump());
    }
    out.dimension_names.push_back(name.is_null() ? "" : name.get<std::string>());
  }
}

// An unknown field is accepted only with "must_understand": false.
void check_fields(const Json& json, const std::string& origin) {
  static constexpr const char* kKnown[] = {
      "zarr_format",         "node_type",  "shape",  "data_type",  "chunk_grid",
      "chunk_key_encoding",  "fill_value", "codecs", "attributes", "dimension_names",
      "storage_transformers"};
  for (const auto& [key, value] : json.items()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) != std::end(kKnown)) continue;
    if (key == "consolidated_metadata" && value.is_null()) continue;
    if (value.is_object() && value.contains("must_understand") &&
        value["must_understand"] == false) {
      continue;
    }
    fail(ErrorCode::unsupported, "{}: field '{}' is not known and must be understood", origin, key);
  }
}

constexpr const char* kTileTable = "headrace.tile_table";
constexpr const char* kAverage = "headrace.average_2x2";

// A key or path below the store, from the array: names, and ".." before them.
std::string parse_relative(const Json& configuration, const char* field,
                           const std::string& origin) {
  const Json& value = require(configuration, field, origin);
  const std::string path = value.is_string() ? value.get<std::string>() : "";
  const std::string_view below = std::string_view(path).substr(path.starts_with("../") ? 3 : 0);
  if (below.empty() || below.front() == '/' || below.find("..") != std::string_view::npos) {
    fail(ErrorCode::malformed, "{}: '{}' of a storage transformer is {}, expected a path like {}",
         origin, field, value.dump(), "\"../source\"");
  }
  return path;
}

void parse_transformers(const Json& json, const std::string& origin, ArrayMetadata& out) {
  const auto found = json.find("storage_transformers");
  if (found == json.end() || (found->is_array() && found->empty())) return;
  Json configuration;
  std::string name;
  if (found->is_array() && found->size() == 1)
    name = parse_name(found->front(), "storage_transformers", origin, configuration);
  if (name == kTileTable) {
    check_known(configuration, {"table", "pixels"}, kTileTable, origin);
    out.other_pixels = {OtherPixels::Kind::tile_table,
                        parse_relative(configuration, "table", origin),
                        parse_relative(configuration, "pixels", origin)};
  } else if (name == kAverage) {
    check_known(configuration, {"pixels"}, kAverage, origin);
    out.other_pixels = {OtherPixels::Kind::average, "",
                        parse_relative(configuration, "pixels", origin)};
  } else {
    fail(ErrorCode::unsupported, "{}: storage_transformers {} are not supported", origin,
         found->dump());
  }
}

Json transformers_json(const OtherPixels& other) {
  const bool table = other.kind == OtherPixels::Kind::tile_table;
  Json configuration{{"pixels", other.pixels}};
  if (table) configuration["table"] = other.table;
  return Json::array(
      {{{"name", table ? kTileTable : kAverage}, {"configuration", std::move(configuration)}}});
}

}  // namespace

ArrayMetadata ArrayMetadata::parse(const Json& json, const std::string& origin) {
  if (!json.is_object()) {
    fail(ErrorCode::malformed, "{}: expected a JSON object with the metadata of an array", origin);
  }
  if (const Json& format = require(json, "zarr_format", origin); format != 3) {
    fail(ErrorCode::unsupported, "{}: zarr_format is {}; only 3 is read", origin, format.dump());
  }
  if (const Json& type = require(json, "node_type", origin); type != "array") {
    fail(ErrorCode::malformed, "{}: node_type is {}, expected \"array\"", origin, type.dump());
  }
  check_fields(json, origin);
  ArrayMetadata out;
  out.shape = parse_shape(require(json, "shape", origin), 0, "shape", origin);
  if (out.shape.size() > static_cast<std::size_t>(kMaxRank)) {
    fail(ErrorCode::unsupported, "{}: the array has {} axes; at most {} are supported", origin,
         out.shape.size(), kMaxRank);
  }
  parse_dtype_field(json, origin, out);
  parse_chunk_grid(json, origin, out);
  parse_key_encoding(json, origin, out);
  out.fill_value = parse_fill_value(require(json, "fill_value", origin), out.dtype, origin);
  out.codecs = require(json, "codecs", origin);
  if (!out.codecs.is_array() || out.codecs.empty()) {
    fail(ErrorCode::malformed, "{}: codecs is {}, expected a list that is not empty", origin,
         out.codecs.dump());
  }
  parse_dimension_names(json, origin, out);
  parse_transformers(json, origin, out);
  out.attributes = json.value("attributes", Json::object());
  if (!out.attributes.is_object()) {
    fail(ErrorCode::malformed, "{}: attributes is {}, expected an object", origin,
         out.attributes.dump());
  }
  return out;
}

Json ArrayMetadata::to_json() const {
  Json json = {
      {"zarr_format", 3},
      {"node_type", "array"},
      {"shape", shape},
      {"data_type", std::string(name_of(dtype))},
      {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", chunk_shape}}}}},
      {"chunk_key_encoding",
       {{"name", v2_keys ? "v2" : "default"},
        {"configuration", {{"separator", std::string(1, separator)}}}}},
      {"fill_value", fill_value_json(fill_value, dtype)},
      {"codecs", codecs},
      {"attributes", attributes}};
  if (!dimension_names.empty()) {
    Json names = Json::array();
    for (const std::string& name : dimension_names) {
      names.push_back(name.empty() ? Json(nullptr) : Json(name));
    }
    json["dimension_names"] = std::move(names);
  }
  if (other_pixels) json["storage_transformers"] = transformers_json(*other_pixels);
  return json;
}

std::string ArrayMetadata::chunk_key(const std::vector<std::int64_t>& chunk) const {
  if (chunk.empty()) return v2_keys ? "0" : "c";
  std::string key = v2_keys ? "" : "c";
  for (const std::int64_t index : chunk) {
    if (!key.empty()) key += separator;
    key += std::to_string(index);
  }
  return key;
}

Json group_metadata(const Json& attributes) {
  return {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", attributes}};
}

namespace {

Json codec(const char* name, Json configuration) {
  Json json = Json::object();
  json["name"] = name;
  if (!configuration.empty()) json["configuration"] = std::move(configuration);
  return json;
}

Json bytes_codec(DType dtype) {
  return codec("bytes", size_of(dtype) > 1 ? Json{{"endian", "little"}} : Json::object());
}

}  // namespace

Json Codecs::blosc_zstd(DType dtype, int level, const std::string& shuffle,
                        std::int64_t block_bytes) {
  return blosc("zstd", dtype, level, shuffle, block_bytes);
}

Json Codecs::blosc(const std::string& compressor, DType dtype, int level,
                   const std::string& shuffle, std::int64_t block_bytes) {
  const Json blosc = {{"cname", compressor},
                      {"clevel", level},
                      {"shuffle", shuffle},
                      {"typesize", size_of(dtype)},
                      {"blocksize", block_bytes}};
  return Json::array({bytes_codec(dtype), codec("blosc", blosc)});
}

Json Codecs::zstd(DType dtype, int level) {
  return Json::array(
      {bytes_codec(dtype), codec("zstd", Json{{"level", level}, {"checksum", false}})});
}

Json Codecs::checked(Json codecs) {
  codecs.push_back(codec("crc32c", Json::object()));
  return codecs;
}

Json Codecs::jpeg(int quality) {
  return Json::array({codec("imagecodecs_jpeg", Json{{"level", quality}})});
}

Json Codecs::jpeg2k() { return Json::array({codec("imagecodecs_jpeg2k", Json::object())}); }
Json Codecs::jpeg_with_tables(std::span<const std::byte> tables, bool rgb) {
  Json codecs = jpeg(kSlideJpegQuality);
  codecs.push_back(
      codec("headrace.jpeg_tables", Json{{"tables", to_base64(tables)}, {"rgb", rgb}}));
  return codecs;
}

Json Codecs::jpeg2k_tiles(bool ycbcr) {
  Json codecs = jpeg2k();
  codecs.push_back(codec("headrace.jpeg2k_tile", Json{{"ycbcr", ycbcr}}));
  return codecs;
}

Json Codecs::sharded(const std::vector<std::int64_t>& inner_chunk_shape, const Json& inner_codecs) {
  Json configuration = Json::object();
  configuration["chunk_shape"] = inner_chunk_shape;
  configuration["codecs"] = inner_codecs;
  configuration["index_codecs"] =
      Json::array({bytes_codec(DType::uint64), codec("crc32c", Json::object())});
  configuration["index_location"] = "end";
  return Json::array({codec("sharding_indexed", configuration)});
}

}  // namespace headrace::zarr
