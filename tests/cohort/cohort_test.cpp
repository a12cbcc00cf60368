#include "headrace/cohort/cohort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/storage/local_store.hpp"
#include "tests/core/error_of.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::cohort {
namespace {

using fixtures::StoreSpec;
using fixtures::TemporaryFolder;

StoreSpec small() {
  StoreSpec spec;
  spec.height = 301;
  spec.width = 405;
  return spec;
}

void replace_in(const std::string& file, const std::string& from, const std::string& to) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  std::string all = text.str();
  const auto at = all.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  all.replace(at, from.size(), to);
  std::ofstream(file) << all;
}

TEST(Cohort, ListsImagesByIdWithTheirMetadata) {
  const TemporaryFolder folder;
  write_store(folder.path("c.zarr"), small());
  const auto cohort = Cohort::open(folder.path("c.zarr"));
  EXPECT_EQ(cohort->kind(), "slide");
  EXPECT_EQ(cohort->classes(), (std::vector<std::string>{"background", "benign", "tumour"}));
  EXPECT_EQ(cohort->dataset_hash().size(), 64u);
  ASSERT_EQ(cohort->images().size(), 3u);
  const ImageRecord& image = cohort->images()[1];
  EXPECT_EQ(image.id, "slide-001");
  EXPECT_EQ(image.case_id, "case-slide-001");
  EXPECT_EQ(image.cohort, "west");
  EXPECT_EQ(image.scanner, "west-scanner");
  EXPECT_EQ(image.split, "train");
  EXPECT_EQ(image.primary, 3);
  EXPECT_FALSE(image.secondary);
  EXPECT_EQ(image.source_bytes, 1001u);
  EXPECT_TRUE(image.colour.has_stain);
  EXPECT_EQ(image.colour.stain_od_rgb_he[1], 0.2159);
  EXPECT_FALSE(image.colour.has_scanner) << "a run fits it, the store does not say";
  EXPECT_EQ(image.colour.od_pixels, 1001u);
  EXPECT_EQ(image.colour.od_sum[1], 1001u * 2540);
}

TEST(Cohort, SetsAreMatchedByTheirClasses) {
  // Run: 0 background, 1 p4, 2 p3, 3 benign, 4 tumour (p4 or p3).
  const ClassMatch match = match_classes(
      {"background", "benign", "p3", "p4", "fold"}, {"background", "p4", "p3", "benign"},
      {{"tumour", {1, 2}}, {"cancer", {2, 3}}, {"dirt", {1, 4}}}, {{"tumour", {1, 2}}});
  EXPECT_EQ(match.seen_as[5], 5) << "benign or p3 is none of the run's sets: a further value";
  EXPECT_EQ(match.seen_as[6], 4) << "p3 or p4 is the run's tumour, whatever its name here";
  EXPECT_EQ(match.seen_as[7], 255) << "dirt may be a class that the run does not know";
  EXPECT_EQ(match.seen_as[8], 254);
  EXPECT_EQ(match.sets,
            (std::vector<ClassSet>{{"tumour", {1, 2}}, {"tumour of the store", {2, 3}}}));
  EXPECT_EQ(match.ignored, (std::vector<std::string>{"fold", "dirt"}));
  EXPECT_EQ(match.in_seen_order<int>({10, 11, 12, 13, 14, 15, 16, 17}, 6, 0),
            (std::vector<int>{10, 13, 12, 11, 16, 15}));
  // Two classes that map to the reader's class 0 become one, so a set of them is not a set.
  EXPECT_EQ(
      match_classes({"glass", "background"}, {"background", "a"}, {{"none", {0, 1}}}).seen_as[2],
      0);
  const std::vector<ClassSet> own{{"any", {1, 2}}};
  EXPECT_TRUE(match_classes({"a", "b", "c"}, {"a", "b", "c"}, own, own).keeps_values());
  EXPECT_EQ(match_classes({"a", "b", "c"}, {"a", "b", "c"}, own).seen_as[3], 3);
}

TEST(Cohort, ClassesAreMatchedByName) {
  const ClassMatch match = match_classes({"background", "benign", "tumour", "fold"},
                                         {"background", "tumour", "benign", "stroma"});
  EXPECT_EQ(match.seen_as[0], 0);
  EXPECT_EQ(match.seen_as[1], 2);
  EXPECT_EQ(match.seen_as[2], 1);
  EXPECT_EQ(match.seen_as[3], 255) << "a class that is not known is ignored";
  EXPECT_EQ(match.seen_as[4], 254) << "what is no class must not become one";
  EXPECT_EQ(match.seen_as[255], 255);
  EXPECT_EQ(match.ignored, std::vector<std::string>{"fold"});
  EXPECT_EQ(match.missing, std::vector<std::string>{"stroma"});
  EXPECT_FALSE(match.keeps_values());
  EXPECT_TRUE(match_classes({"a", "b"}, {"a", "b"}).keeps_values());
  const ClassMatch glass = match_classes({"glass", "tumour"}, {"background", "tumour"});
  EXPECT_TRUE(glass.keeps_values()) << "class 0 is what is none of the others, whatever its name";
  EXPECT_TRUE(glass.missing.empty());
  EXPECT_EQ(match_classes({"tumour", "stroma"}, {"background", "tumour"}).seen_as[0], 1);
}

TEST(Cohort, AnotherSeesItsOwnClassesInTheIndex) {
  const TemporaryFolder folder;
  write_store(folder.path("c.zarr"), small());
  const auto cohort = Cohort::open(folder.path("c.zarr"));
  const auto seen = cohort->seen_by({"background", "tumour", "stroma"});
  EXPECT_EQ(seen->classes()[2], "stroma");
  const CellIndex own = cohort->cells(0, "annotation"), other = seen->cells(0, "annotation");
  ASSERT_FALSE(own.cell_y.empty());
  EXPECT_EQ(other.tissue_px, own.tissue_px);
  EXPECT_EQ(other.class_px[1], own.class_px[2]);
  EXPECT_EQ(other.class_px[2], std::vector<std::uint32_t>(own.cell_y.size(), 0));
}

TEST(Cohort, LevelsScaleByTheStatedFactorNotByTheirRoundedSizes) {
  const TemporaryFolder folder;
  write_store(folder.path("c.zarr"), small());
  const auto cohort = Cohort::open(folder.path("c.zarr"));
  const auto& levels = cohort->images()[0].levels;
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[2].height, 76);
  EXPECT_EQ(levels[2].width, 102);
  EXPECT_EQ(levels[2].downsample_yx, (std::array<double, 2>{4, 4}));
  EXPECT_EQ(levels[2].mpp_yx, (std::array<double, 2>{1, 1}));
}

TEST(Cohort, ArraysGiveTheStoredPixels) {
  const TemporaryFolder folder;
  const StoreSpec spec = small();
  write_store(folder.path("c.zarr"), spec);
  const auto cohort = Cohort::open(folder.path("c.zarr"));
  std::vector<std::uint8_t> pixels(50 * 60 * 3), labels(50 * 60);
  cohort->image_array(2, 0)->read({.origin = {0, 120, 150},
                                   .shape = {3, 50, 60},
                                   .dst = reinterpret_cast<std::byte*>(pixels.data()),
                                   .strides_bytes = {1, 180, 3},
                                   .row_spans = {}});
  cohort->label_array(2, "annotation", 0)
      ->read({.origin = {120, 150},
              .shape = {50, 60},
              .dst = reinterpret_cast<std::byte*>(labels.data()),
              .strides_bytes = {60, 1},
              .row_spans = {}});
  for (std::int64_t y = 0; y < 50; ++y) {
    for (std::int64_t x = 0; x < 60; ++x) {
      const auto at = static_cast<std::size_t>(y * 60 + x);
      ASSERT_EQ((std::array{pixels[3 * at], pixels[3 * at + 1], pixels[3 * at + 2]}),
                fixtures::fixture_pixel(spec, 2, 120 + y, 150 + x));
      ASSERT_EQ(labels[at], fixtures::fixture_label(spec, 2, 120 + y, 150 + x));
    }
  }
  EXPECT_EQ(cohort->image_array(2, 0), cohort->image_array(2, 0)) << "opened once";
}

TEST(Cohort, CellsCountTheLabelsPixels) {
  const TemporaryFolder folder;
  const StoreSpec spec = small();
  write_store(folder.path("c.zarr"), spec);
  const CellIndex cells = Cohort::open(folder.path("c.zarr"))->cells(0, "annotation");
  EXPECT_EQ(cells.cell_size_px, 128);
  std::vector<std::uint64_t> expected(3), found(3);
  for (std::int64_t y = 0; y < spec.height; ++y) {
    for (std::int64_t x = 0; x < spec.width; ++x)
      ++expected[fixtures::fixture_label(spec, 0, y, x)];
  }
  for (std::size_t k = 0; k < cells.cell_y.size(); ++k) {
    for (std::size_t c = 0; c < 3; ++c) found[c] += cells.class_px[c][k];
    EXPECT_EQ(cells.tissue_px[k], cells.class_px[1][k] + cells.class_px[2][k]);
  }
  EXPECT_EQ(found[1], expected[1]);
  EXPECT_EQ(found[2], expected[2]);
}

TEST(Cohort, AnImageOfGlassAloneHasNoCells) {
  const TemporaryFolder folder;
  StoreSpec spec = small();
  spec.glass_alone = true;
  write_store(folder.path("c.zarr"), spec);
  const CellIndex cells = Cohort::open(folder.path("c.zarr"))->cells(0, "annotation");
  EXPECT_EQ(cells.cell_size_px, 128);
  EXPECT_TRUE(cells.cell_y.empty());
  EXPECT_EQ(cells.class_px.size(), 3u);
}

TEST(Cohort, AFolderThatIsNoFinishedStoreIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of(ErrorCode::not_found, [&] { Cohort::open(folder.path("none.zarr")); }),
            folder.path("none.zarr") + ": there is no such store");
  std::filesystem::create_directory(folder.path("empty.zarr"));
  EXPECT_NE(error_of(ErrorCode::not_found, [&] { Cohort::open(folder.path("empty.zarr")); })
                .find("no zarr.json"),
            std::string::npos);
  write_store(folder.path("c.zarr"), small());
  std::filesystem::remove(folder.path("c.zarr/manifest.json"));
  EXPECT_NE(
      error_of(ErrorCode::corrupt, [&] { Cohort::open(folder.path("c.zarr")); })
          .find(
              "no manifest.json, so its ingest did not finish. Run the same headrace ingest again"),
      std::string::npos);
}

TEST(Cohort, AnotherFormatVersionIsUnsupported) {
  const TemporaryFolder folder;
  write_store(folder.path("c.zarr"), small());
  replace_in(folder.path("c.zarr/zarr.json"), "\"format\": 2", "\"format\": 9");
  EXPECT_NE(error_of(ErrorCode::unsupported, [&] { Cohort::open(folder.path("c.zarr")); })
                .find("store format 9, this version reads 2"),
            std::string::npos);
  replace_in(folder.path("c.zarr/zarr.json"), "\"format\": 9", "\"format\": 1");
  EXPECT_NE(
      error_of(ErrorCode::unsupported, [&] { Cohort::open(folder.path("c.zarr")); })
          .find("store format 1, made by an earlier version (this one reads 2); ingest it again"),
      std::string::npos);
}

TEST(Cohort, DamagedMetadataNamesImageAndField) {
  const TemporaryFolder folder;
  write_store(folder.path("c.zarr"), small());
  replace_in(folder.path("c.zarr/images/slide-001/zarr.json"), "\"codec\": \"zstd\"",
             "\"codec\": 3");
  const std::string text =
      error_of(ErrorCode::malformed, [&] { Cohort::open(folder.path("c.zarr")); });
  EXPECT_NE(text.find("slide-001"), std::string::npos) << text;
  EXPECT_NE(text.find("'codec'"), std::string::npos) << text;
  std::ofstream(folder.path("c.zarr/manifest.json")) << "{\"dataset_hash\": \"ab";
  EXPECT_NE(error_of(ErrorCode::malformed, [&] { Cohort::open(folder.path("c.zarr")); })
                .find("not valid JSON"),
            std::string::npos);
}

TEST(Cohort, AnUnknownImageIsAnsweredWithTheNearest) {
  const TemporaryFolder folder;
  write_store(folder.path("c.zarr"), small());
  const auto cohort = Cohort::open(folder.path("c.zarr"));
  EXPECT_EQ(cohort->find_image("slide-002"), 2u);
  EXPECT_NE(error_of(ErrorCode::not_found, [&] { cohort->find_image("slide-02"); })
                .find("Did you mean 'slide-002'?"),
            std::string::npos);
}

/// A store of two versions: of the second, image 0 is in another split and has no labels.
std::array<std::string, 2> write_two_versions(const TemporaryFolder& folder) {
  write_store(folder.path("c.zarr"), small());
  storage::LocalStore store(folder.path("c.zarr"));
  StoreHead head = StoreHead::load(store);
  StoreVersion version = StoreVersion::load(store, head.current);
  version.images.at("slide-000").columns["split"] = "test";
  version.images.at("slide-000").labels.clear();
  version.classes.push_back("stroma");
  store.put_text(version_key(version.hash()), version.text());
  const std::string first = head.current;
  head.log.push_back({version.hash(), first, "round 2"});
  head.current = version.hash();
  store.put_text("manifest.json", head.text());
  return {first, version.hash()};
}

TEST(Cohort, OpensTheCurrentVersionOrTheOneThatIsNamed) {
  const TemporaryFolder folder;
  const auto [first, second] = write_two_versions(folder);
  ASSERT_NE(first, second);
  const auto now = Cohort::open(folder.path("c.zarr"));
  EXPECT_EQ(now->dataset_hash(), second);
  EXPECT_EQ(now->images()[0].split, "test");
  EXPECT_TRUE(now->images()[0].labels.empty());
  EXPECT_EQ(now->classes().size(), 4u);
  // Without labels nothing is known of classes, and tissue is as before.
  const CellIndex without = now->cells(0, "annotation");
  for (const std::string& name : {first, first.substr(0, 4), first.substr(0, 20)}) {
    const auto before = Cohort::open(folder.path("c.zarr"), name);
    EXPECT_EQ(before->dataset_hash(), first);
    EXPECT_EQ(before->images()[0].split, "train");
    EXPECT_EQ(before->images()[0].labels, std::vector<std::string>{"annotation"});
    EXPECT_EQ(before->classes().size(), 3u);
    EXPECT_EQ(before->cells(0, "annotation").tissue_px, without.tissue_px);
  }
  EXPECT_EQ(without.class_px.size(), 4u);
  for (const auto& counts : without.class_px) {
    for (const std::uint32_t count : counts) EXPECT_EQ(count, 0u);
  }
  // A label image that was written when there were fewer classes has none of the new one.
  const CellIndex other = now->cells(1, "annotation");
  EXPECT_GT(*std::max_element(other.class_px[1].begin(), other.class_px[1].end()), 0u);
  EXPECT_EQ(*std::max_element(other.class_px[3].begin(), other.class_px[3].end()), 0u);
}

TEST(Cohort, AVersionThatTheStoreDoesNotHaveIsRefusedWithThoseItHas) {
  const TemporaryFolder folder;
  const auto [first, second] = write_two_versions(folder);
  const auto refusal = [&](const std::string& name) {
    return error_of(ErrorCode::usage, [&] { Cohort::open(folder.path("c.zarr"), name); });
  };
  const std::string absent = refusal(first.starts_with("0000") ? "1111" : "0000");
  EXPECT_NE(absent.find("it has " + first.substr(0, 12) + ", " + second.substr(0, 12)),
            std::string::npos)
      << absent;
  EXPECT_NE(refusal(first.substr(0, 3)).find("too few digits"), std::string::npos);
}

TEST(Cohort, ADamagedVersionIsFoundByItsName) {
  const TemporaryFolder folder;
  const auto [first, second] = write_two_versions(folder);
  replace_in(folder.path("c.zarr/" + version_key(second)), "\"split\":\"test\"",
             "\"split\":\"text\"");
  EXPECT_NE(error_of(ErrorCode::corrupt, [&] { Cohort::open(folder.path("c.zarr")); })
                .find("which should be its name"),
            std::string::npos);
  EXPECT_EQ(Cohort::open(folder.path("c.zarr"), first)->images().size(), 3u);
}

TEST(Cohort, ObjectsThatNoVersionHasAreNoImages) {
  const TemporaryFolder folder;
  write_store(folder.path("c.zarr"), small());
  std::filesystem::copy(folder.path("c.zarr/images/slide-001"),
                        folder.path("c.zarr/images/slide-099"),
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(Cohort::open(folder.path("c.zarr"))->images().size(), 3u);
}

}  // namespace
}  // namespace headrace::cohort
