#include "headrace/zarr/metadata.hpp"

#include <nlohmann/json.hpp>

#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

Json example() {
  return Json::parse(R"({
    "zarr_format": 3, "node_type": "array", "shape": [10000, 1000], "data_type": "float64",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1000, 100]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "fill_value": "NaN", "dimension_names": ["rows", null], "attributes": {"foo": 42}})");
}

ArrayMetadata parse(const Json& json) { return ArrayMetadata::parse(json, "zarr.json"); }

TEST(Metadata, TheExampleOfTheSpecificationIsRead) {
  const ArrayMetadata metadata = parse(example());
  EXPECT_EQ(metadata.shape, (std::vector<std::int64_t>{10000, 1000}));
  EXPECT_EQ(metadata.chunk_shape, (std::vector<std::int64_t>{1000, 100}));
  EXPECT_EQ(metadata.dtype, DType::float64);
  EXPECT_EQ(metadata.dimension_names, (std::vector<std::string>{"rows", ""}));
  EXPECT_EQ(metadata.attributes["foo"], 42);
  EXPECT_EQ(metadata.fill_value.size(), 8U);
}

TEST(Metadata, WhatIsWrittenIsWhatWasRead) { EXPECT_EQ(parse(example()).to_json(), example()); }

TEST(Metadata, ChunkKeysFollowTheirEncoding) {
  Json json = example();
  EXPECT_EQ(parse(json).chunk_key({1, 23}), "c/1/23");
  json["chunk_key_encoding"]["configuration"]["separator"] = ".";
  EXPECT_EQ(parse(json).chunk_key({1, 23}), "c.1.23");
  json["chunk_key_encoding"] = {{"name", "v2"}};
  EXPECT_EQ(parse(json).chunk_key({1, 23}), "1.23");
  json["chunk_key_encoding"] = {{"name", "v2"}, {"configuration", {{"separator", "/"}}}};
  EXPECT_EQ(parse(json).chunk_key({1, 23}), "1/23");
  json["chunk_key_encoding"] = "default";
  json["shape"] = json["chunk_grid"]["configuration"]["chunk_shape"] = Json::array();
  json.erase("dimension_names");
  EXPECT_EQ(parse(json).chunk_key({}), "c");
  json["chunk_key_encoding"] = "v2";
  EXPECT_EQ(parse(json).chunk_key({}), "0");
}

TEST(Metadata, UnknownFieldsAreRefusedUnlessTheyNeedNotBeUnderstood) {
  Json json = example();
  json["flavour"] = {{"name", "vanilla"}};
  EXPECT_NE(error_of(ErrorCode::unsupported, [&] { parse(json); }).find("'flavour'"),
            std::string::npos);
  json["flavour"]["must_understand"] = true;
  error_of(ErrorCode::unsupported, [&] { parse(json); });
  json["flavour"]["must_understand"] = false;
  parse(json);
  json["consolidated_metadata"] = {
      {"kind", "inline"}, {"must_understand", false}, {"metadata", Json::object()}};
  parse(json);
  json["consolidated_metadata"] = nullptr;
  parse(json);
}

TEST(Metadata, EveryMissingFieldIsNamed) {
  for (const char* field : {"zarr_format", "node_type", "shape", "data_type", "chunk_grid",
                            "chunk_key_encoding", "codecs", "fill_value"}) {
    Json json = example();
    json.erase(field);
    const std::string text = error_of(ErrorCode::malformed, [&] { parse(json); });
    EXPECT_NE(text.find(field), std::string::npos) << text;
    EXPECT_NE(text.find("zarr.json"), std::string::npos) << text;
  }
}

TEST(Metadata, WrongValuesAreRefused) {
  const auto refused = [](const char* pointer, const Json& value, ErrorCode code) {
    Json json = example();
    json[Json::json_pointer(pointer)] = value;
    SCOPED_TRACE(std::string(pointer) + " = " + value.dump());
    error_of(code, [&] { parse(json); });
  };
  const Json::array_t none;
  refused("/zarr_format", 2, ErrorCode::unsupported);
  refused("/node_type", "group", ErrorCode::malformed);
  refused("/shape", {-1, 2}, ErrorCode::malformed);
  refused("/shape", {1.5, 2}, ErrorCode::malformed);
  refused("/shape", {18446744073709551615U, 2}, ErrorCode::malformed);
  refused("/shape", "10", ErrorCode::malformed);
  refused("/shape", {1, 2, 3}, ErrorCode::malformed);
  refused("/data_type", "complex64", ErrorCode::unsupported);
  refused("/data_type", {{"name", "uint8"}, {"configuration", {{"x", 1}}}}, ErrorCode::unsupported);
  refused("/data_type", 3, ErrorCode::malformed);
  refused("/chunk_grid/name", "rectilinear", ErrorCode::unsupported);
  refused("/chunk_grid/configuration/chunk_shape", {0, 100}, ErrorCode::malformed);
  refused("/chunk_grid/configuration/chunk_shape", {10}, ErrorCode::malformed);
  refused("/chunk_grid/configuration/extra", 1, ErrorCode::unsupported);
  refused("/chunk_grid/must_understand", false, ErrorCode::malformed);
  refused("/chunk_key_encoding/name", "other", ErrorCode::unsupported);
  refused("/chunk_key_encoding/configuration/separator", "-", ErrorCode::malformed);
  refused("/codecs", none, ErrorCode::malformed);
  refused("/codecs", "bytes", ErrorCode::malformed);
  refused("/fill_value", nullptr, ErrorCode::malformed);
  refused("/dimension_names", {"a"}, ErrorCode::malformed);
  refused("/dimension_names", {1, 2}, ErrorCode::malformed);
  refused("/attributes", none, ErrorCode::malformed);
  refused("/storage_transformers", {{{"name", "x"}}}, ErrorCode::unsupported);
}

TEST(Metadata, MoreAxesThanSupportedAreRefused) {
  Json json = example();
  json["shape"] = std::vector<int>(9, 1);
  EXPECT_NE(error_of(ErrorCode::unsupported, [&] { parse(json); }).find("9 axes"),
            std::string::npos);
}

TEST(Metadata, CodecListsAreJsonAsWritten) {
  EXPECT_EQ(Codecs::blosc_zstd(DType::int16, 5, "shuffle"), Json::parse(R"([
      {"name": "bytes", "configuration": {"endian": "little"}},
      {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "shuffle",
       "typesize": 2, "blocksize": 0}}])"));
  EXPECT_EQ(Codecs::zstd(DType::uint8, 3), Json::parse(R"([
      {"name": "bytes"}, {"name": "zstd", "configuration": {"level": 3, "checksum": false}}])"));
  EXPECT_EQ(Codecs::jpeg(90), Json::parse(R"([
      {"name": "imagecodecs_jpeg", "configuration": {"level": 90}}])"));
  EXPECT_EQ(Codecs::sharded({3, 8}, Codecs::jpeg(90)), Json::parse(R"([
      {"name": "sharding_indexed", "configuration": {"chunk_shape": [3, 8],
       "codecs": [{"name": "imagecodecs_jpeg", "configuration": {"level": 90}}],
       "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
       "index_location": "end"}}])"));
}

}  // namespace
}  // namespace headrace::zarr
