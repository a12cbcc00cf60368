#include "headrace/ingest/slide/ingest_slides.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/ingest/labels/ingest_labels.hpp"
#include "headrace/ingest/store/manifest.hpp"
#include "headrace/ingest/versions/verify.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

const std::string kSamples = std::string(HR_SOURCE_DIR) + "/samples/";
const std::string kSlide = kSamples + "slides/derived/cmu-aperio-style-4level.svs";

class IngestSlides : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(HR_BINARY_DIR) / "test-ingest" /
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  SlideIngestOptions options(const std::string& store) const {
    SlideIngestOptions options;
    options.inputs = {kSlide, kSamples + "nuclei/images/dsb_00ae65c1c663.png",
                      kSamples + "nuclei/images/dsb_0121d6759c5a.png"};
    options.annotations = kSamples + "nuclei/instances";
    options.coding = MaskCoding::instances;
    options.out = (root_ / store).string();
    return options;
  }

  std::string failure(const SlideIngestOptions& options, ErrorCode code) const {
    return error_of(code, [&] { ingest_slides(options); });
  }

  std::string table(const std::string& text) const {
    std::ofstream(root_ / "t.csv") << text;
    return (root_ / "t.csv").string();
  }

  /// An image in PANDA's layout beside the table, and a file in the place of its mask.
  void put_panda(const std::string& id, bool mask) const {
    fs::create_directories(root_ / "train_images");
    fs::create_directories(root_ / "train_label_masks");
    fs::copy_file(kSlide, root_ / "train_images" / (id + ".tiff"));
    if (mask) fs::copy_file(kSlide, root_ / "train_label_masks" / (id + "_mask.tiff"));
  }

  fs::path root_;
};

TEST_F(IngestSlides, GivesTheSameHashForAnyThreadsAndOrder) {
  auto first = options("one.zarr");
  first.jobs = 1;
  const auto one = ingest_slides(first);
  auto second = options("two.zarr");
  second.jobs = 2;
  std::reverse(second.inputs.begin(), second.inputs.end());
  const auto two = ingest_slides(second);
  EXPECT_EQ(one.dataset_hash, two.dataset_hash);
  EXPECT_EQ(one.images, 3U);
  EXPECT_GT(one.passthrough_bytes, 0U);
  ThreadPool pool(2);
  EXPECT_TRUE(verify(storage::LocalStore(first.out), pool).damage.empty());
}

TEST_F(IngestSlides, StoresTheReadersPixels) {
  for (const SlideCodec codec : {SlideCodec::automatic, SlideCodec::zstd}) {
    auto with = options(fmt::format("{}.zarr", name_of(codec)));
    with.inputs = {kSlide};
    with.annotations.clear();
    with.codec = codec;
    with.shard = codec == SlideCodec::zstd ? 512 : 960;
    ingest_slides(with);
    const auto reader = imaging::SlideReader::open(kSlide);
    const auto& size = reader->info().levels[0];
    const auto bytes = static_cast<std::size_t>(3 * size.height * size.width);
    std::vector<std::uint8_t> expected(bytes), stored(bytes);
    reader->read(0, 0, 0, size.height, size.width, expected.data(), 3 * size.width);
    const auto array = zarr::Array::open(std::make_shared<storage::LocalStore>(with.out),
                                         "images/cmu-aperio-style-4level/0");
    array->read({{0, 0, 0},
                 {3, size.height, size.width},
                 reinterpret_cast<std::byte*>(stored.data()),
                 {1, 3 * size.width, 3},
                 {}});
    EXPECT_EQ(stored, expected) << name_of(codec);
  }
}

TEST_F(IngestSlides, StoresJpeg2000TilesWithTheReadersPixelsOfEveryLevel) {
  const std::string name = "TCGA-CR-7395-01A-01-TS1";
  auto with = options("jpeg2000.zarr");
  with.inputs = {kSamples + "slides/" + name + ".svs"};
  with.annotations.clear();
  const auto result = ingest_slides(with);
  EXPECT_EQ(result.jpeg2000_slides, 1U);
  EXPECT_LT(result.stored_bytes, result.source_bytes * 5 / 4);
  const auto reader = imaging::SlideReader::open(with.inputs[0]);
  ASSERT_EQ(reader->info().levels.size(), 2U);
  for (int level = 0; level < 2; ++level) {
    const auto& size = reader->info().levels[static_cast<std::size_t>(level)];
    const auto bytes = static_cast<std::size_t>(3 * size.height * size.width);
    std::vector<std::uint8_t> expected(bytes), stored(bytes);
    reader->read(level, 0, 0, size.height, size.width, expected.data(), 3 * size.width);
    const auto array = zarr::Array::open(std::make_shared<storage::LocalStore>(with.out),
                                         fmt::format("images/{}/{}", name, level));
    EXPECT_EQ(array->host_only(), "the array→bytes codec imagecodecs_jpeg2k of the chunk");
    array->read({{0, 0, 0},
                 {3, size.height, size.width},
                 reinterpret_cast<std::byte*>(stored.data()),
                 {1, 3 * size.width, 3},
                 {}});
    EXPECT_EQ(stored, expected) << level;
  }
  ThreadPool pool(2);
  EXPECT_TRUE(verify(storage::LocalStore(with.out), pool).damage.empty());
}

TEST_F(IngestSlides, DropsGlassOnlyOutsideOfTheTissue) {
  auto with = options("glass.zarr");
  with.inputs = {kSlide};
  with.annotations.clear();
  with.drop_glass = true;
  const auto result = ingest_slides(with);
  EXPECT_GT(result.dropped_chunks, 10U);
  const storage::LocalStore store(with.out);
  EXPECT_EQ(ingest_slides(with).dataset_hash, result.dataset_hash);
}

TEST_F(IngestSlides, NamesTheNearestColumnAndCoding) {
  auto bad = options("a.zarr");
  bad.table = table("file,imge\nx.png,a\n");
  EXPECT_NE(failure(bad, ErrorCode::usage).find("did you mean 'image'"), std::string::npos);
  bad.table = table("file,coding\nx.png,instance\n");
  EXPECT_NE(failure(bad, ErrorCode::usage)
                .find("line 2: coding 'instance' is none of classes, panda-radboud, "
                      "panda-karolinska, instances (did you mean 'instances'?)"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(bad.out));
}

TEST_F(IngestSlides, RefusesPandasMasksOfAnUnknownProvider) {
  put_panda("x", true);
  auto bad = options("a.zarr");
  bad.inputs.clear();
  bad.annotations.clear();
  bad.table = table("image_id,data_provider,isup_grade,gleason_score\nx,radbout,0,0+0\n");
  EXPECT_NE(failure(bad, ErrorCode::usage)
                .find("line 2: data_provider 'radbout' is none of radboud, karolinska (did you "
                      "mean 'radboud'?)"),
            std::string::npos);
  // No coding of the options takes its place.
  const std::string mask = (root_ / "train_label_masks/x_mask.tiff").string();
  for (const char* text : {"image_id,isup_grade\nx,0\n", "image_id,data_provider\nx,\n"}) {
    bad.table = table(text);
    EXPECT_NE(failure(bad, ErrorCode::usage)
                  .find("line 2: mask " + mask +
                        " needs a data_provider (radboud or karolinska); add the column, or use a "
                        "table with columns file, image and coding"),
              std::string::npos);
  }
  EXPECT_FALSE(fs::exists(bad.out));
}

TEST_F(IngestSlides, TakesPandasRowsWithoutAMaskOfAnyProvider) {
  put_panda("x", false);
  put_panda("y", false);
  for (const char* text : {"image_id,isup_grade\nx,0\ny,3\n",
                           "image_id,data_provider,isup_grade\nx,uppsala,0\ny,,3\n"}) {
    auto with = options("a.zarr");
    with.inputs.clear();
    with.annotations.clear();
    with.table = table(text);
    EXPECT_EQ(ingest_slides(with).images, 2U) << text;
    fs::remove_all(with.out);
  }
}

TEST_F(IngestSlides, RefusesAKindOfObjectsThatHasNoName) {
  auto bad = options("a.zarr");
  bad.objects = {imaging::ObjectKind::annotation, imaging::ObjectKind::tma_core};
  EXPECT_NE(failure(bad, ErrorCode::usage).find("annotation, detection, cell, tile"),
            std::string::npos);
  LabelIngestOptions labels;
  labels.store = root_.string();
  labels.annotations = root_.string();
  labels.objects = {imaging::ObjectKind::tma_core};
  error_of(ErrorCode::usage, [&] { ingest_labels(labels); });
}

TEST_F(IngestSlides, RefusesACaseInTwoSplitsAndTwoImagesOfOneName) {
  auto bad = options("a.zarr");
  bad.table =
      table("file,case,split\ndsb_00ae65c1c663.png,p1,train\ndsb_0121d6759c5a.png,p1,val\n");
  EXPECT_NE(failure(bad, ErrorCode::usage).find("case 'p1'"), std::string::npos);
  bad.table = table("file,image\ndsb_00ae65c1c663.png,x\ndsb_0121d6759c5a.png,x\n");
  EXPECT_NE(failure(bad, ErrorCode::usage).find("'x'"), std::string::npos);
}

TEST_F(IngestSlides, LeavesNothingWhenAMaskHoldsAnUnknownValue) {
  auto bad = options("a.zarr");
  bad.inputs = {kSamples + "nuclei/images/dsb_00ae65c1c663.png"};
  bad.coding = MaskCoding::classes;
  bad.classes = {"background", "nucleus"};
  EXPECT_NE(failure(bad, ErrorCode::malformed).find("coding 'classes' with 2 classes"),
            std::string::npos);
  EXPECT_TRUE(!fs::exists(bad.out) || fs::is_empty(bad.out));
}

}  // namespace
}  // namespace headrace::ingest
