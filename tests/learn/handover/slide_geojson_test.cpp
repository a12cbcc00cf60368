#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "headrace/core/json.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/imaging/slide/geojson.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/handover/slide/qupath_geojson.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"
#include "tests/learn/handover/slide_by_hand.hpp"

namespace headrace::handover {
namespace {

using imaging::TempFolder;
using ::testing::HasSubstr;

/// The polygons of a file painted onto a map whose pixels are `px` pixels of level 0.
HandMap painted(const std::string& path, const PredictedSlide& slide, double px) {
  HandMap map{slide.facts.slide->height, slide.facts.slide->width, {}};
  map.classes.resize(static_cast<std::size_t>(map.height * map.width));
  pixels::PolygonRaster raster;
  const auto& names = slide.facts.classes;
  for (const imaging::AnnotatedPolygon& polygon : imaging::read_geojson(path).polygons) {
    const auto found = std::find(names.begin(), names.end(), polygon.class_name);
    raster.add(polygon.rings, static_cast<std::uint16_t>(found - names.begin()), 1 / px);
  }
  raster.paint(0, 0, map.height, map.width, map.classes.data(), map.width);
  return map;
}

/// All pixels around (y, x), within `reach` rows and columns, are of its class.
bool is_inner(const HandMap& map, std::int64_t y, std::int64_t x, std::int64_t reach) {
  for (std::int64_t v = y - reach; v <= y + reach; ++v) {
    for (std::int64_t u = x - reach; u <= x + reach; ++u) {
      const bool inside = v >= 0 && v < map.height && u >= 0 && u < map.width;
      if ((inside ? map.at(v, u) : 0) != map.at(y, x)) return false;
    }
  }
  return true;
}

std::uint8_t expected(std::uint8_t value) { return value == result::kNotPredicted ? 0 : value; }

TEST(QupathGeojson, WithoutToleranceEveryPixelComesBack) {
  const TempFolder folder;
  const HandMap map = blobs(700, 331);  // more than one band of rows
  PredictedSlide slide = slide_of(map);
  for (const double px : {4.0, 3.7013}) {
    slide.facts.slide->level0_px_yx = {px, px};
    write_qupath_geojson(slide, folder / "r.geojson");
    const HandMap back = painted(folder / "r.geojson", slide, px);
    for (std::int64_t y = 0; y < map.height; ++y) {
      for (std::int64_t x = 0; x < map.width; ++x)
        ASSERT_EQ(back.at(y, x), expected(map.at(y, x))) << y << " " << x;
    }
  }
}

TEST(QupathGeojson, WithToleranceOnlyPixelsNearABorderMayDiffer) {
  const TempFolder folder;
  const HandMap map = blobs(300, 400);
  const PredictedSlide slide = slide_of(map);
  write_qupath_geojson(slide, folder / "r.geojson", {.tolerance_um = 3});  // 1.5 pixels
  const HandMap back = painted(folder / "r.geojson", slide, 4);
  int inner = 0;
  for (std::int64_t y = 0; y < map.height; ++y) {
    for (std::int64_t x = 0; x < map.width; ++x) {
      if (!is_inner(map, y, x, 2)) continue;
      ++inner;
      ASSERT_EQ(back.at(y, x), expected(map.at(y, x))) << y << " " << x;
    }
  }
  EXPECT_GT(inner, 1000);
  const auto simplified = std::filesystem::file_size(folder / "r.geojson");
  write_qupath_geojson(slide, folder / "e.geojson");
  EXPECT_LT(simplified, std::filesystem::file_size(folder / "e.geojson") * 2 / 3);
}

TEST(QupathGeojson, AFeatureStatesWhatQupathReads) {
  const TempFolder folder;
  HandMap map{5, 6, std::vector<std::uint8_t>(30, 0)};
  for (const std::size_t i : {7, 8, 9, 13, 15, 19, 20, 21}) map.classes[i] = 2;  // a hole at (2, 2)
  write_qupath_geojson(slide_of(map), folder / "r.geojson");
  const Json json = parse_json(read_file(folder / "r.geojson"), "r.geojson");
  EXPECT_EQ(json.at("type"), "FeatureCollection");
  ASSERT_EQ(json.at("features").size(), 1u);
  Json feature = json.at("features")[0];
  const auto id = feature.at("id").get<std::string>();
  EXPECT_THAT(id, ::testing::MatchesRegex(
                      "[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  feature.erase("id");
  const pixels::Rgb colour = pixels::class_colour(2);
  const Json outer{{4, 4}, {16, 4}, {16, 16}, {4, 16}, {4, 4}};
  EXPECT_EQ(feature.at("geometry").at("coordinates").size(), 2u);
  EXPECT_EQ(feature.at("geometry").at("coordinates")[0], outer);
  EXPECT_EQ(feature.at("properties"),
            (Json{{"objectType", "annotation"},
                  {"name", "region 1"},
                  {"classification", {{"name", "grade \"3\""}, {"color", colour}}},
                  {"measurements",
                   {{"area mm^2", 3.2e-05},
                    {"mean probability background", 0.0667},
                    {"mean probability benign", 0.0667},
                    {"mean probability grade \"3\"", 0.8},
                    {"mean probability grade <4>", 0.0667}}}}));
}

std::vector<Json> features(const std::string& path) {
  return parse_json(read_file(path), path).at("features").get<std::vector<Json>>();
}

TEST(QupathGeojson, NumbersAndIdsDontDependOnWhatElseIsExported) {
  const TempFolder folder;
  PredictedSlide slide = slide_of(blobs(200, 300));
  slide.least_listed_px = 4;
  write_qupath_geojson(slide, folder / "all.geojson", {.min_area_mm2 = 0});
  write_qupath_geojson(slide, folder / "listed.geojson", {.classes = {"grade <4>"}});
  std::map<std::string, Json> by_id;
  std::size_t unnamed = 0;
  for (const Json& feature : features(folder / "all.geojson")) {
    EXPECT_TRUE(by_id.emplace(feature.at("id"), feature).second);
    unnamed += feature.at("properties").contains("name") ? 0 : 1;
  }
  EXPECT_GT(unnamed, 10u);
  const auto some = features(folder / "listed.geojson");
  EXPECT_GT(some.size(), 3u);
  for (const Json& feature : some) {
    EXPECT_EQ(feature.at("properties").at("classification").at("name"), "grade <4>");
    EXPECT_EQ(feature, by_id.at(feature.at("id")));
  }
  slide.facts.networks[0].weights_sha256[0] = 'b';
  write_qupath_geojson(slide, folder / "other.geojson", {.min_area_mm2 = 0});
  for (const Json& feature : features(folder / "other.geojson"))
    EXPECT_FALSE(by_id.contains(feature.at("id")));
}

TEST(QupathGeojson, SmallRegionsAreToBeIgnored) {
  const TempFolder folder;
  const PredictedSlide slide = slide_of(blobs(200, 300));
  EXPECT_EQ(write_qupath_geojson(slide, folder / "all.geojson"), 0u);
  const auto ignored =
      write_qupath_geojson(slide, folder / "r.geojson", {.min_area_mm2 = 12e-6});  // 3 pixels
  const auto all = features(folder / "all.geojson"), found = features(folder / "r.geojson");
  ASSERT_EQ(found.size(), all.size());
  std::uint64_t small = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(found[i].at("geometry"), all[i].at("geometry"));
    const double area = all[i].at("properties").at("measurements").at("area mm^2");
    const Json& name = found[i].at("properties").at("classification").at("name");
    EXPECT_EQ(name == "Ignore*", area < 11.9e-6);
    small += area < 11.9e-6 ? 1 : 0;
  }
  EXPECT_GT(small, 10u);
  EXPECT_EQ(ignored, small);
}

TEST(QupathGeojson, NoRegionsAreAnEmptyCollection) {
  const TempFolder folder;
  write_qupath_geojson(slide_of({2, 3, std::vector<std::uint8_t>(6, 255)}), folder / "r.geojson");
  EXPECT_TRUE(features(folder / "r.geojson").empty());
}

TEST(QupathGeojson, RefusesWhatItCantKeep) {
  const TempFolder folder;
  PredictedSlide slide = slide_of(blobs(20, 30));
  const auto refused = [&](const GeojsonOptions& options) {
    return error_of(ErrorCode::usage,
                    [&] { write_qupath_geojson(slide, folder / "r.geojson", options); });
  };
  EXPECT_THAT(refused({.classes = {"grade 9"}}), HasSubstr("'grade 9'"));
  EXPECT_THAT(refused({.classes = {"background"}}), HasSubstr("benign, grade"));
  EXPECT_THAT(refused({.tolerance_um = -1}), HasSubstr("-1 micrometres"));
  EXPECT_THAT(refused({.tolerance_um = NAN}), HasSubstr("nan"));
  slide.facts.slide->mpp = 0;
  EXPECT_THAT(refused({.tolerance_um = 1}), HasSubstr("no pixel size"));
  EXPECT_THAT(refused({.min_area_mm2 = 0.1}), HasSubstr("no pixel size"));
  EXPECT_EQ(folder.files(), 0u);
  write_qupath_geojson(slide, folder / "r.geojson");
  for (const Json& feature : features(folder / "r.geojson"))
    EXPECT_FALSE(feature.at("properties").at("measurements").contains("area mm^2"));
}

TEST(QupathGeojson, LeavesNothingWhenReadingFails) {
  const TempFolder folder;
  PredictedSlide slide = slide_of(blobs(20, 30));
  slide.probability = [](auto...) { fail(ErrorCode::corrupt, "the chunk is damaged"); };
  EXPECT_EQ(
      error_of(ErrorCode::corrupt, [&] { write_qupath_geojson(slide, folder / "r.geojson"); }),
      "the chunk is damaged");
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace headrace::handover
