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
  const Error bomb = error_of([&] { read_geojson(packed(std::string(8 << 20, ' '))); });
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
      {feature(R"({"type":"Polygon","coordinates":[]})", "null"), ErrorCode::malformed,
       "has no rings"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]})", "null"),
       ErrorCode::malformed, "2 different positions"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,"a"],[2,2],[0,0]]]})", "null"),
       ErrorCode::malformed, "position 1"},
      {feature(R"({"type":"Polygon","coordinates":[[[0,0],[1,1e300],[2,2],[0,0]]]})", "null"),
       ErrorCode::malformed, "no place on a slide"},
      {feature(kSquare, "null", R"(,"childObjects":[{"type":"Feature","geometry":{}}])"),
       ErrorCode::malformed, "feature 0: child 0: the geometry has no type"},
  };
  for (const auto& c : cases) {
    const Error error = error_of([&] { parse(c.text); });
    EXPECT_EQ(error.code(), c.code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(c.expected));
    EXPECT_THAT(error.what(), HasSubstr("a.geojson"));
  }
  EXPECT_EQ(error_of([] { read_geojson("/nowhere/a.geojson"); }).code(), ErrorCode::not_found);
}

/// The textbook rule, pixel by pixel: is the number of edges to the right of the point odd?
/// source: W. R. Franklin, PNPOLY.
bool inside(const AnnotatedPolygon& polygon, double x, double y) {
  bool in = false;
  for (const Ring& ring : polygon.rings) {
    for (std::size_t i = 0, j = ring.size() - 1; i < ring.size(); j = i++) {
      const auto& a = ring[i][1] < ring[j][1] ? ring[i] : ring[j];
      const auto& b = ring[i][1] < ring[j][1] ? ring[j] : ring[i];
      if ((ring[i][1] > y) != (ring[j][1] > y) &&
          x < a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]))
        in = !in;
    }
  }
  return in;
}

TEST(Rasterize, AgreesWithPointInPolygonOnRandomRings) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 200; ++round) {
    AnnotatedPolygon polygon;
    const int rings = 1 + static_cast<int>(random() % 3);
    for (int r = 0; r < rings; ++r) {
      Ring ring;
      const int vertices = 3 + static_cast<int>(random() % 9);
      for (int v = 0; v < vertices; ++v) {
        // Every second round on half pixels, where centres meet edges and vertices.
        const double unit = round % 2 ? 0.5 : 1.0 / 1024;
        ring.push_back(
            {static_cast<double>(random() % static_cast<unsigned>(60 / unit)) * unit - 10,
             static_cast<double>(random() % static_cast<unsigned>(60 / unit)) * unit - 10});
      }
      ring.push_back(ring.front());
      polygon.rings.push_back(ring);
    }
    std::vector<std::uint8_t> painted(40 * 50, 9);
    rasterize({polygon}, {3}, 1.0, 0, 0, 40, 50, painted.data(), 50);
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 50; ++x) {
        ASSERT_EQ(painted[static_cast<std::size_t>(y * 50 + x)],
                  inside(polygon, x + 0.5, y + 0.5) ? 3 : 9)
            << "round " << round << " at " << x << ", " << y;
      }
    }
  }
}

TEST(Rasterize, NeighboursThatShareEdgesMeetWithoutGapOrOverlap) {
  // A fan of triangles around a point covers its hull once: every pixel has one owner.
  std::mt19937 random(7);
  std::vector<int> owners(100 * 100);
  const std::array<double, 2> centre{47.3, 52.1};
  std::vector<std::array<double, 2>> rim{{-5, -5}};
  for (const auto& corner : {std::array<double, 2>{105, -5}, {105, 105}, {-5, 105}, {-5, -5}}) {
    const auto from = rim.back();
    for (int i = 1; i < 12; ++i) {
      const double t = (i + static_cast<double>(random() % 100) / 200) / 12.5;
      rim.push_back({from[0] + (corner[0] - from[0]) * t, from[1] + (corner[1] - from[1]) * t});
    }
    rim.push_back(corner);
  }
  for (std::size_t i = 0; i + 1 < rim.size(); ++i) {
    std::vector<std::uint8_t> painted(100 * 100);
    // Turning direction and first vertex differ from triangle to triangle.
    const Ring ring = i % 2 ? Ring{centre, rim[i], rim[i + 1], centre}
                            : Ring{rim[i + 1], rim[i], centre, rim[i + 1]};
    rasterize({{"", {ring}}}, {1}, 1.0, 0, 0, 100, 100, painted.data(), 100);
    for (std::size_t p = 0; p < painted.size(); ++p) owners[p] += painted[p];
  }
  EXPECT_EQ(owners, std::vector<int>(100 * 100, 1));
}

TEST(Rasterize, AnyWindowIsACutOfTheWholeAndLaterPolygonsLieAbove) {
  std::mt19937 random(3);
  std::vector<AnnotatedPolygon> polygons;
  std::vector<std::uint8_t> values;
  for (int i = 0; i < 30; ++i) {
    Ring ring;
    for (int v = 0; v < 5; ++v)
      ring.push_back(
          {static_cast<double>(random() % 4000) / 10, static_cast<double>(random() % 4000) / 10});
    ring.push_back(ring.front());
    polygons.push_back({"", {ring}});
    values.push_back(static_cast<std::uint8_t>(i + 1));
  }
  const PolygonRaster raster(polygons, values, 0.5);
  std::vector<std::uint8_t> whole(200 * 200);
  raster.paint(0, 0, 200, 200, whole.data(), 200);
  for (int i = 0; i < 50; ++i) {
    const std::int64_t y0 = random() % 150, x0 = random() % 150, h = 1 + random() % 50,
                       w = 1 + random() % 50;
    std::vector<std::uint8_t> part(static_cast<std::size_t>(h * w));
    raster.paint(y0, x0, h, w, part.data(), w);
    for (std::int64_t y = 0; y < h; ++y) {
      for (std::int64_t x = 0; x < w; ++x) {
        ASSERT_EQ(part[static_cast<std::size_t>(y * w + x)],
                  whole[static_cast<std::size_t>((y0 + y) * 200 + x0 + x)]);
      }
    }
  }
  for (std::int64_t y = 0; y < 200; y += 7) {
    for (std::int64_t x = 0; x < 200; x += 3) {
      std::uint8_t top = 0;
      for (std::size_t i = 0; i < polygons.size(); ++i) {
        if (inside(polygons[i], (static_cast<double>(x) + 0.5) / 0.5,
                   (static_cast<double>(y) + 0.5) / 0.5))
          top = values[i];
      }
      ASSERT_EQ(whole[static_cast<std::size_t>(y * 200 + x)], top);
    }
  }
  EXPECT_EQ(error_of([&] { PolygonRaster(polygons, {1}, 1.0); }).code(), ErrorCode::usage);
}

}  // namespace
}  // namespace headrace::imaging
