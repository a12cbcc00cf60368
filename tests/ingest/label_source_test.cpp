#include "headrace/ingest/slide/label_source.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/ingest/inputs/annotation_files.hpp"
#include "headrace/ingest/slide/mask_place.hpp"
#include "headrace/ingest/slide/polygon_place.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::ingest {
namespace {

std::int64_t scale_of(LevelSize mask, LevelSize image) { return place_mask(mask, image).scale; }

TEST(MaskPlace, SizesAreRoundedAsPyramidsAre) {
  EXPECT_EQ(scale_of({100, 80}, {400, 320}), 4);
  EXPECT_EQ(scale_of({100, 80}, {403, 321}), 4);  // rounded down
  EXPECT_EQ(scale_of({101, 81}, {403, 321}), 4);  // and up
  EXPECT_EQ(scale_of({100, 81}, {400, 321}), 4);
  EXPECT_EQ(scale_of({401, 319}, {400, 320}), 1);
  EXPECT_EQ(scale_of({402, 320}, {400, 320}), 0);
  EXPECT_EQ(scale_of({100, 90}, {400, 320}), 0);
  EXPECT_EQ(scale_of({80, 100}, {400, 320}), 0);  // turned
  // 40000 / 256 is 156.25, and 40000 / 257 is 155.6, which rounds up to the same.
  EXPECT_EQ(scale_of({156, 156}, {40000, 40000}), 256);
  EXPECT_EQ(scale_of({1, 1}, {7, 9}), 8);
  EXPECT_EQ(scale_of({0, 1}, {7, 9}), 0);
}

TEST(MaskPlace, AMaskIsOfTheCanvasOrOfTheScanOnIt) {
  const SlideCanvas canvas{{768, 1024}, Box2{200, 100, 300, 400}};
  const MaskPlace whole = place_on_canvas({384, 512}, canvas);
  EXPECT_EQ(whole.scale, 2);
  EXPECT_EQ(whole.shown, (Box2{0, 0, 768, 1024}));
  EXPECT_EQ(whole.other, 0);
  const MaskPlace part = place_on_canvas({150, 200}, canvas);
  EXPECT_EQ(part.scale, 2);
  EXPECT_EQ(part.shown, (Box2{200, 100, 300, 400}));
  EXPECT_EQ(place_on_canvas({301, 512}, canvas).scale, 0);
  const SlideCanvas twice{{600, 800}, Box2{200, 100, 300, 400}};
  EXPECT_EQ(place_on_canvas({300, 400}, twice).scale, 2);
  EXPECT_EQ(place_on_canvas({300, 400}, twice).other, 1);
  EXPECT_EQ(place_on_canvas({300, 400}, {{600, 800}, std::nullopt}).other, 0);
}

imaging::AnnotatedPolygon box_polygon(double left, double top, double right, double bottom) {
  imaging::AnnotatedPolygon polygon;
  polygon.rings.push_back(
      {{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}});
  return polygon;
}

TEST(PolygonPlace, CountsFromTheScanUnlessItFitsOnlyTheCanvas) {
  const SlideCanvas canvas{{768, 1024}, Box2{200, 100, 300, 400}};
  const auto placed = [&](std::vector<imaging::AnnotatedPolygon> polygons, PolygonOrigin expected) {
    EXPECT_EQ(place_polygons(polygons, canvas), expected);
    return polygons.front().rings.front().front();
  };
  EXPECT_EQ(placed({box_polygon(60, 50, 200, 150)}, PolygonOrigin::scan)[0], 160);
  EXPECT_EQ(placed({box_polygon(60, 50, 200, 150)}, PolygonOrigin::scan)[1], 250);
  EXPECT_EQ(placed({box_polygon(160, 250, 450, 490)}, PolygonOrigin::canvas)[0], 160);
  // Outlines that follow the edge of coarse pixels, and places that are on no canvas.
  EXPECT_EQ(placed({box_polygon(0, 0, 408, 300)}, PolygonOrigin::scan)[0], 100);
  EXPECT_EQ(placed({box_polygon(4000, 0, 4800, 300)}, PolygonOrigin::scan)[0], 4100);
}

MaskFacts facts(std::uint64_t background, std::uint64_t painted, std::uint64_t ignored,
                std::uint16_t full_scale) {
  return {background, painted, ignored, full_scale, true, false};
}

TEST(RunOfMasks, FullScaleIsTheClassWhereNoMaskOfTheRunHasOne) {
  auto binary = facts(10, 0, 5, 255), full = facts(0, 0, 15, 255), empty = facts(15, 0, 0, 0);
  RunOfMasks alone;
  for (const auto& mask : {binary, full, empty}) alone.add(mask);
  for (auto* mask : {&binary, &full, &empty}) alone.settle("m.png", {}, *mask);
  EXPECT_TRUE(binary.full_scale_is_class);
  EXPECT_TRUE(full.full_scale_is_class);
  EXPECT_FALSE(empty.full_scale_is_class);

  auto meant = facts(10, 0, 5, 255);
  alone.settle("m.png", {Doubt::ignore_only}, meant);
  EXPECT_FALSE(meant.full_scale_is_class);

  auto beside = facts(10, 0, 5, 255);
  RunOfMasks mixed;
  mixed.add(beside);
  mixed.add(facts(10, 5, 0, 0));
  mixed.settle("m.png", {}, beside);
  EXPECT_FALSE(beside.full_scale_is_class);
}

TEST(RunOfMasks, MasksThatTeachNothingAreRefused) {
  auto full = facts(0, 0, 15, 255), several = facts(10, 0, 5, 0), wide = facts(10, 0, 5, 65535);
  RunOfMasks run;
  for (const auto& mask : {full, several}) run.add(mask);
  for (auto* mask : {&full, &several}) EXPECT_THROW(run.settle("m.png", {}, *mask), Error);
  RunOfMasks with_classes;
  with_classes.add(facts(1, 1, 0, 0));
  EXPECT_THROW(with_classes.settle("m.png", {}, wide), Error);
  EXPECT_THROW(with_classes.settle("m.png", {}, full), Error);
  EXPECT_NO_THROW(with_classes.settle("m.png", {}, several));
}

class AnnotationFilesTest : public ::testing::Test {
 protected:
  void write(const std::string& name) { std::ofstream(folder_.path(name)) << "x"; }
  std::string name_of(const AnnotationFiles& files, std::size_t i) {
    return std::filesystem::path(files.of(i)).filename().string();
  }
  headrace::fixtures::TemporaryFolder folder_;
};

TEST_F(AnnotationFilesTest, NamesOfImagesWithAndWithoutTheirEndings) {
  for (const char* name : {"a.geojson", "b.svs.GeoJSON", "c.tif_mask.png", "d_mask.tif", "e_1.xml",
                           "f.svs.geojson.gz", "notes.txt", "z.png", ".hidden"})
    write(name);
  const AnnotationFiles files(folder_.path(""), {{"/s/a.tif", "a"},
                                                 {"/s/b.svs", "b"},
                                                 {"/s/c.tif", "c"},
                                                 {"/s/d.tif", "d"},
                                                 {"/s/e 1.tif", "e_1"},
                                                 {"/s/f.tif", "f"},
                                                 {"/s/g.tif", "g"}});
  const std::vector<std::string> expected{
      "a.geojson", "b.svs.GeoJSON", "c.tif_mask.png", "d_mask.tif", "e_1.xml", "f.svs.geojson.gz",
      ""};
  std::vector<std::string> used;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(name_of(files, i), expected[i]);
    used.push_back(files.of(i));
  }
  const UnusedFiles unused = sorted(files.unused(used));
  ASSERT_EQ(unused.size(), 2U);
  EXPECT_EQ(unused[0].reason, "it fits no image");
  EXPECT_TRUE(unused[0].path.ends_with("z.png"));
}

TEST_F(AnnotationFilesTest, DoubtfulNamesAreRefused) {
  for (const char* name : {"a.png", "a_mask.png", "b.png", "c.svs.png", "c_mask.png"}) write(name);
  const AnnotationFiles files(folder_.path(""), {{"/s/a.tif", "a"},
                                                 {"/1/b.tif", "p1"},
                                                 {"/2/b.tif", "p2"},
                                                 {"/s/c.svs", "c1"},
                                                 {"/s/c_mask.tif", "c2"}});
  EXPECT_THROW(files.of(0), Error);
  EXPECT_THROW(files.of(1), Error);
  EXPECT_EQ(name_of(files, 3), "c.svs.png");
  EXPECT_EQ(name_of(files, 4), "c_mask.png");
}

TEST(LabelCoding, TumourIsSpeltInTwoWays) {
  EXPECT_EQ(find_class("Tumor", {"background", "tumour"}), 1);
  EXPECT_EQ(find_class("invasive tumour", {"background", "Invasive Tumor"}), 1);
  EXPECT_EQ(find_class("Tumor", {"background", "tumour", "Tumor"}), 2);
}

}  // namespace
}  // namespace headrace::ingest
