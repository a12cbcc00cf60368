#include "headrace/imaging/slide/geojson.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using testing::HasSubstr;

constexpr const char* kSquare =
    R"({"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,4],[0,0]]]})";

std::string feature(const std::string& geometry, const std::string& classification,
                    const std::string& more = "") {
  return R"({"type":"Feature","id":"x","geometry":)" + geometry +
         R"(,"properties":{"objectType":"annotation","classification":)" + classification + "}" +
         more + "}";
}

AnnotationFile parse_file(const std::string& text) {
  const TempFolder folder;
  return read_geojson(folder.write("a.geojson", text));
}
std::vector<AnnotatedPolygon> parse(const std::string& text) { return parse_file(text).polygons; }

TEST(GeoJson, EveryFormThatQuPathWrites) {
  const std::string multi =
      R"({"type":"MultiPolygon","coordinates":[[[[0,0],[2,0],[2,2],[0,0]]],[[[5,5],[9,5],[9,9],[5,5]],[[6,5.5],[7,5.5],[7,6],[6,5.5]]]]})";
  const std::string child = feature(kSquare, R"({"name":"Gleason 4","color":[1,2,3]})");
  const std::string parent =
      feature(kSquare, R"({"name":"Tumor"})", R"(,"childObjects":[)" + child + "]");
  const std::string features = feature(kSquare, "null") + "," +
                               feature(multi, R"({"names":["Tumor","Positive"]})") + "," + parent;
  for (const std::string& text :
       {R"({"type":"FeatureCollection","features":[)" + features + "]}", "[" + features + "]"}) {
    const auto polygons = parse(text);
    ASSERT_EQ(polygons.size(), 5u);
    EXPECT_EQ(polygons[0].class_name, "");
    EXPECT_EQ(polygons[1].class_name, "Tumor: Positive");
    EXPECT_EQ(polygons[2].rings.size(), 2u);
    EXPECT_EQ(polygons[2].rings[1][1], (std::array<double, 2>{7, 5.5}));
    EXPECT_EQ(polygons[3].class_name, "Tumor");
    EXPECT_EQ(polygons[4].class_name, "Gleason 4");
    EXPECT_EQ(polygons[4].rings[0].size(), 5u);
  }
  EXPECT_EQ(parse(feature(kSquare, R"("Stroma")"))[0].class_name, "Stroma");
  EXPECT_TRUE(parse(R"({"type":"FeatureCollection","features":[]})").empty());
}

TEST(GeoJson, CountsWhatHasNoAreaAndKeepsTheRest) {
  const auto found = parse_file(
      "[" + feature(R"({"type":"Point","coordinates":[1,2]})", "null") + "," +
      feature(R"({"type":"MultiPoint","coordinates":[[1,2],[3,4]]})", R"({"name":"Tumor"})") + "," +
      feature(R"({"type":"LineString","coordinates":[[1,2],[3,4]]})", "null") + "," +
      feature(
          R"({"type":"GeometryCollection","geometries":[{"type":"MultiLineString","coordinates":[]},)" +
              std::string(kSquare) + "]}",
          R"({"name":"Tumor"})") +
      "]");
  EXPECT_EQ(found.points, 2u);
  EXPECT_EQ(found.lines, 2u);
  ASSERT_EQ(found.polygons.size(), 1u);
  EXPECT_EQ(found.polygons[0].class_name, "Tumor");
}

TEST(GeoJson, LeavesOutAndCountsWhatEnclosesNothing) {
  const auto polygon = [](const std::string& rings) {
    return feature(R"({"type":"Polygon","coordinates":[)" + rings + "]}", "null");
  };
  const std::string ring = "[[0,0],[8,0],[8,8],[0,8],[0,0]]";
  const auto found = parse_file(
      "[" + polygon("") + "," + polygon("[[0,0],[1,1],[0,0]]") + "," +
      polygon("[[0,0],[1,1],[3,3],[2,2]]") + "," + polygon("[[5,5],[5,5],[5,5],[5,5]]") + "," +
      // Holes: two places, the outline again from another place and backwards, a real one.
      polygon(ring + ",[[1,1],[2,2]],[[8,8],[8,0],[0,0],[0,8]],[[1,1],[2,1],[2,2]]") + "," +
      R"({"type":"Feature","geometry":null,"properties":{}},)" +
      R"({"type":"Feature","geometry":{"type":"MultiPolygon","coordinates":[]}}])");
  EXPECT_EQ(found.objects, 7u);
  EXPECT_EQ(found.degenerate_polygons, 5u);
  EXPECT_EQ(found.degenerate_holes, 2u);
  EXPECT_EQ(found.empty, 1u);
  ASSERT_EQ(found.polygons.size(), 1u);
  ASSERT_EQ(found.polygons[0].rings.size(), 2u);
  // A bow tie has a signed area of 0, but encloses something; an open ring is closed.
  const auto bow = parse_file(polygon("[[0,0],[4,4],[4,0],[0,4]]"));
  ASSERT_EQ(bow.polygons.size(), 1u);
  EXPECT_EQ(bow.polygons[0].rings[0].size(), 5u);
}

TEST(GeoJson, ClassesAsQuPathAndOtherProgramsWriteThem) {
  const auto name = [](const std::string& classification) {
    return parse(feature(kSquare, classification)).at(0).class_name;
  };
  EXPECT_EQ(name(R"({"name":"Positive","parentClass":{"name":"Tumor","colorRGB":-1}})"),
            "Tumor: Positive");
  EXPECT_EQ(
      name(R"({"name":"3+","parentClass":{"name":"Positive","parentClass":{"name":"Tumor"}}})"),
      "Tumor: Positive: 3+");
  EXPECT_EQ(name(R"({"name":"Tumor: Positive","parentClass":{"name":"Tumor"}})"),
            "Tumor: Positive");
  EXPECT_EQ(name(R"({"name":"Stroma","parentClass":null})"), "Stroma");
  EXPECT_EQ(name(R"("{\"name\": \"Tumor\", \"color\": [200, 0, 0]}")"), "Tumor");
  EXPECT_EQ(name(R"("{'name': 'Tumor', 'color': [200, 0, 0]}")"), "Tumor");
  EXPECT_EQ(name(R"(["Tumor","Positive"])"), "Tumor: Positive");
  EXPECT_EQ(name(R"("{odd name")"), "{odd name");
}

TEST(GeoJson, AnyTopLevelOfTheStandard) {
  EXPECT_EQ(parse(kSquare).size(), 1u);
  EXPECT_EQ(
      parse(R"({"type":"GeometryCollection","geometries":[)" + std::string(kSquare) + "]}").size(),
      1u);
  EXPECT_EQ(parse(R"([{"type":"FeatureCollection","features":[)" + feature(kSquare, R"("Tumor")") +
                  "]}]")[0]
                .class_name,
            "Tumor");
  EXPECT_EQ(parse_file("[]").objects, 0u);
  std::string wide("\xFF\xFE", 2);  // UTF-16, as PowerShell writes it
  for (const char c : feature(kSquare, R"("Tumor")")) wide += {c, '\0'};
  EXPECT_EQ(parse(wide)[0].class_name, "Tumor");
}

TEST(GeoJson, KnowsWhatQuPathCallsAnObject) {
  const auto kind = [](const std::string& id, const std::string& properties) {
    return parse(R"({"type":"Feature","id":")" + id + R"(","geometry":)" + kSquare +
                 R"(,"nucleusGeometry":)" + kSquare + R"(,"properties":{"isLocked":true)" +
                 properties + "}}")
        .at(0)
        .kind;
  };
  EXPECT_EQ(kind("1b2c", ""), ObjectKind::annotation);
  EXPECT_EQ(kind("1b2c", R"(,"objectType":"annotation")"), ObjectKind::annotation);
  EXPECT_EQ(kind("1b2c", R"(,"objectType":"detection")"), ObjectKind::detection);
  EXPECT_EQ(kind("1b2c", R"(,"object_type":"cell")"), ObjectKind::cell);
  EXPECT_EQ(kind("1b2c", R"(,"objectType":"tma_core")"), ObjectKind::tma_core);
  EXPECT_EQ(kind("PathTileObject", ""), ObjectKind::tile);
  EXPECT_EQ(kind("PathAnnotationObject", ""), ObjectKind::annotation);
  EXPECT_EQ(kind("PathCellObject", R"(,"objectType":"annotation")"), ObjectKind::annotation);
}

TEST(GeoJson, GzipIsReadWithinABound) {
  const TempFolder folder;
  const auto packed = [&](const std::string& text) {
    const std::string path = folder / "a.geojson.gz";
    gzFile file = gzopen(path.c_str(), "wb9");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  };
  const std::string square = feature(kSquare, R"({"name":"Tumor"})");
  EXPECT_EQ(read_geojson(packed(square)).polygons.size(), 1u);
  std::string many = "[" + square;
  for (int i = 0; i < 9000; ++i) {
    many += R"(,{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[)" +
            std::to_string(i * 7919 % 10007) + ",0],[4,4],[0," + std::to_string(i + 5) + "]]]}}";
  }
  ASSERT_GT(many.size(), std::size_t{1} << 19);
  EXPECT_EQ(read_geojson(packed(many + "]")).polygons.size(), 9001u);
  const Error bomb = thrown_by([&] { read_geojson(packed(std::string(8 << 20, ' '))); });
  EXPECT_EQ(bomb.code(), ErrorCode::memory);
  EXPECT_THAT(bomb.what(), HasSubstr("gzip holds more"));
}

TEST(GeoJson, ErrorsNameFileAndFeature) {
  const struct {
    std::string text;
    ErrorCode code;
    std::string expected;
  } cases[] = {
      {"{\"type\":", ErrorCode::malformed, "not valid JSON"},
      {"{}", ErrorCode::malformed, "feature 0: this is not a GeoJSON Feature"},
      {"[" + feature(kSquare, "null") + "," +
           feature(R"({"type":"Circle","coordinates":[1,2]})", "null") + "]",
       ErrorCode::unsupported, "feature 1: geometry Circle is not one of GeoJSON's"},
      {feature(R"({"type":"Polygon","coordinates":[7]})", "null"), ErrorCode::malformed,
       "not a list of positions"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,1e999],[2,2],[0,0]]]})", "null"),
       ErrorCode::malformed, "not valid JSON"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,NaN],[2,2],[0,0]]]})", "null"),
       ErrorCode::malformed, "not valid JSON"},
      {feature(kSquare, "{\"name\":\"Krebs \xE9\"}"), ErrorCode::malformed, "not UTF-8"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,"a"],[2,2],[0,0]]]})", "null"),
       ErrorCode::malformed, "position 1"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,1e300],[2,2],[0,0]]]})", "null"),
       ErrorCode::malformed, "not a place on a slide"},
      {feature(kSquare, "null", R"(,"childObjects":[{"type":"Feature","geometry":{}}])"),
       ErrorCode::malformed, "feature 0: child 0: the geometry has no type"},
  };
  for (const auto& c : cases) {
    const Error error = thrown_by([&] { parse(c.text); });
    EXPECT_EQ(error.code(), c.code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(c.expected));
    EXPECT_THAT(error.what(), HasSubstr("a.geojson"));
  }
  EXPECT_EQ(thrown_by([] { read_geojson("/nowhere/a.geojson"); }).code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace headrace::imaging
