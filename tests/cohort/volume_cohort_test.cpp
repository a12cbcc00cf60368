#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "headrace/cohort/cohort.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "tests/core/error_of.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::cohort {
namespace {

using fixtures::TemporaryFolder;
using fixtures::VolumeSpec;

/// One store for the tests that only read.
class VolumeCohort : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    fixtures::write_volume_store(folder_->path("c.zarr"), spec_);
    cohort_ = Cohort::open(folder_->path("c.zarr"));
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }
  template <typename Visit>
  static void each_voxel(const Visit& visit) {
    for (std::int64_t z = 0; z < spec_.shape_zyx[0]; ++z) {
      for (std::int64_t y = 0; y < spec_.shape_zyx[1]; ++y) {
        for (std::int64_t x = 0; x < spec_.shape_zyx[2]; ++x) visit(z, y, x);
      }
    }
  }

  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline const VolumeSpec spec_;
  static inline std::shared_ptr<const Cohort> cohort_;
};

TEST_F(VolumeCohort, ListsImagesWithTheirGridAndPhase) {
  EXPECT_EQ(cohort_->kind(), "volume");
  EXPECT_EQ(cohort_->classes(), spec_.classes);
  ASSERT_EQ(cohort_->images().size(), 3u);
  const ImageRecord& image = cohort_->images()[0];
  EXPECT_EQ(image.id, "scan-000");
  EXPECT_EQ(image.case_id, "case-scan-000");
  EXPECT_EQ(image.cohort, "east");
  EXPECT_EQ(image.split, "train");
  EXPECT_EQ(image.labels, (std::vector<std::string>{"annotation"}));
  EXPECT_EQ(image.source_bytes, 1000u);
  EXPECT_TRUE(image.levels.empty()) << "those of slides";
  ASSERT_TRUE(image.volume);
  EXPECT_EQ(image.volume->phase, "portal-venous");
  EXPECT_EQ(image.volume->affine_lps[0], 0.8);
  EXPECT_EQ(image.volume->affine_lps[10], 2.5);
  EXPECT_EQ(image.volume->affine_lps[3], -100);
  EXPECT_TRUE(image.volume->from_file.identity());
  EXPECT_EQ(image.volume->file_grid.affine_lps, image.volume->affine_lps);
  const auto& levels = image.volume->levels;
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[2].shape_zyx, (std::array<std::int64_t, 3>{50, 33, 36}));
  EXPECT_EQ(levels[2].downsample_zyx, (std::array<double, 3>{1, 4, 4}));
  EXPECT_EQ(levels[2].spacing_mm_zyx, (std::array<double, 3>{2.5, 3.2, 3.2}));
}

TEST_F(VolumeCohort, ArraysGiveTheStoredVoxels) {
  constexpr std::int64_t kDepth = 20, kEdge = 50;
  std::vector<std::int16_t> hu(kDepth * kEdge * kEdge);
  std::vector<std::uint8_t> labels(hu.size()), body(hu.size());
  const std::vector<std::int64_t> origin{20, 40, 30}, shape{kDepth, kEdge, kEdge};
  const auto read = [&](const std::shared_ptr<const zarr::Array>& array, void* to,
                        std::int64_t bytes) {
    array->read({origin,
                 shape,
                 static_cast<std::byte*>(to),
                 {kEdge * kEdge * bytes, kEdge * bytes, bytes},
                 {}});
  };
  read(cohort_->image_array(1, 0), hu.data(), 2);
  read(cohort_->label_array(1, "annotation", 0), labels.data(), 1);
  read(cohort_->body_mask(1), body.data(), 1);
  std::size_t at = 0;
  for (std::int64_t z = 20; z < 20 + kDepth; ++z) {
    for (std::int64_t y = 40; y < 40 + kEdge; ++y) {
      for (std::int64_t x = 30; x < 30 + kEdge; ++x, ++at) {
        ASSERT_EQ(hu[at], fixtures::fixture_hu(spec_, 1, z, y, x));
        ASSERT_EQ(labels[at], fixtures::fixture_volume_label(spec_, 1, z, y, x));
        ASSERT_EQ(body[at], hu[at] > -500 ? 1 : 0);
      }
    }
  }
}

TEST_F(VolumeCohort, CellsHistogramAndBodyCountTheVoxels) {
  std::map<std::int32_t, std::array<std::uint64_t, 2>> expected;
  std::map<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 4>> boxes;
  each_voxel([&](std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::int32_t hu = fixtures::fixture_hu(spec_, 0, z, y, x);
    const std::uint8_t label = fixtures::fixture_volume_label(spec_, 0, z, y, x);
    if (hu <= -500) return;
    ++expected[hu][0];
    if (label == 1 || label == 2) ++expected[hu][1];
    auto& box = boxes[{static_cast<std::uint32_t>(z / 16), static_cast<std::uint32_t>(y / 16),
                       static_cast<std::uint32_t>(x / 16)}];
    ++box[0];
    if (label < 3) ++box[1 + label];
  });
  const VolumeHistogram histogram = cohort_->histogram(0, "annotation");
  ASSERT_EQ(histogram.stored.size(), expected.size());
  std::size_t i = 0;
  std::uint64_t body = 0;
  for (const auto& [hu, counts] : expected) {
    EXPECT_EQ(histogram.stored[i], hu);
    EXPECT_EQ(histogram.body[i], counts[0]);
    EXPECT_EQ(histogram.foreground[i++], counts[1]);
    body += counts[0];
  }
  EXPECT_EQ(cohort_->images()[0].volume->body.voxels, body);
  EXPECT_GT(cohort_->images()[0].volume->body.high, cohort_->images()[0].volume->body.low);

  const VolumeCellIndex cells = cohort_->volume_cells(0, "annotation");
  EXPECT_EQ(cells.cell_size_zyx, (std::array<std::int32_t, 3>{16, 16, 16}));
  ASSERT_EQ(cells.cell_zyx.size(), boxes.size());
  i = 0;
  for (const auto& [cell, counts] : boxes) {
    EXPECT_EQ(cells.cell_zyx[i], cell);
    EXPECT_EQ(cells.body_voxels[i], counts[0]);
    // Class 0 of a cell also counts the air around the body.
    EXPECT_GE(cells.class_voxels[0][i], counts[1]);
    EXPECT_EQ(cells.class_voxels[1][i], counts[2]);
    EXPECT_EQ(cells.class_voxels[2][i++], counts[3]);
  }
}

TEST_F(VolumeCohort, LesionsAreTheLabelsComponents) {
  const auto lesions = cohort_->lesions(2, "annotation");
  ASSERT_EQ(lesions.size(), 1u);
  std::uint64_t voxels = 0;
  each_voxel([&](std::int64_t z, std::int64_t y, std::int64_t x) {
    voxels += fixtures::fixture_volume_label(spec_, 2, z, y, x) == 2 ? 1 : 0;
  });
  EXPECT_EQ(lesions[0].class_value, 2);
  EXPECT_EQ(lesions[0].voxels, voxels);
  EXPECT_NEAR(lesions[0].volume_mm3, static_cast<double>(voxels) * 2.5 * 0.64, 1e-6);
  // A ball of 9 mm: 7 slices of 2.5 mm have a voxel whose corner lies within it.
  EXPECT_EQ(lesions[0].size_zyx[0], 7);
}

TEST(VolumeStore, WithoutLabelsThereAreNoLesions) {
  const TemporaryFolder folder;
  VolumeSpec spec;
  spec.images = 1;
  spec.shape_zyx = {20, 30, 40};
  spec.labels = false;
  fixtures::write_volume_store(folder.path("c.zarr"), spec);
  const auto cohort = Cohort::open(folder.path("c.zarr"));
  EXPECT_TRUE(cohort->lesions(0, "annotation").empty());
  EXPECT_TRUE(cohort->images()[0].labels.empty());
}

void expect_ends(const std::string& text, const std::string& end) {
  EXPECT_TRUE(text.ends_with(end)) << text;
}

/// A small store whose files each test spoils in its own way.
class SpoiltVolume : public ::testing::Test {
 protected:
  SpoiltVolume() {
    VolumeSpec spec;
    spec.images = 1;
    spec.shape_zyx = {20, 30, 40};
    fixtures::write_volume_store(path_, spec);
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::ifstream in(path_ + "/" + file);
    std::stringstream text;
    text << in.rdbuf();
    std::string all = text.str();
    const auto at = all.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    all.replace(at, from.size(), to);
    std::ofstream(path_ + "/" + file) << all;
  }
  /// Makes a changed version the current one.
  template <typename Change>
  void rewrite(const Change& change) {
    storage::LocalStore store(path_);
    StoreHead head = StoreHead::load(store);
    StoreVersion version = StoreVersion::load(store, head.current);
    change(version);
    store.put_text(version_key(version.hash()), version.text());
    head.log = {{version.hash(), "", ""}};
    head.current = version.hash();
    store.put_text("manifest.json", head.text());
  }

  std::string refusal(ErrorCode code) {
    return error_of(code, [&] { Cohort::open(path_); });
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("c.zarr");
};

TEST_F(SpoiltVolume, AnUnknownKindIsRefused) {
  rewrite([](StoreVersion& version) { version.kind = "movie"; });
  expect_ends(refusal(ErrorCode::unsupported),
              "c.zarr: a store of kind 'movie', this version reads slide and volume. Use "
              "the version that wrote it");
}

TEST_F(SpoiltVolume, AMissingFactIsNamed) {
  replace("images/scan-000/zarr.json", "\"spacing_mm\"", "\"spacing\"");
  expect_ends(refusal(ErrorCode::malformed),
              "scan-000/zarr.json: the field 'spacing_mm' is missing; ingest the store again");
}

TEST_F(SpoiltVolume, AnImpossibleSpacingIsNamed) {
  replace("images/scan-000/zarr.json", "\"spacing_mm\": [",
          "\"spacing_mm\": [-2.5, 0.8, 0.8], \"other\": [");
  const std::string text = refusal(ErrorCode::malformed);
  EXPECT_NE(text.find("level 0 has 20 voxels, downsample 1 and level-0 spacing -2.5 mm along axis "
                      "0"),
            std::string::npos)
      << text;
}

TEST_F(SpoiltVolume, AFileGridThatIsNotTheStoredOneInAnotherOrderIsNamed) {
  replace("images/scan-000/zarr.json", "\"axis_of_xyz\": [",
          "\"axis_of_xyz\": [1, 1, 2], \"other\": [");
  const std::string text = refusal(ErrorCode::malformed);
  EXPECT_NE(text.find("scan-000/zarr.json, 'file_grid': axes 1, 1, 2 of 40x30x20 voxels"),
            std::string::npos)
      << text;
}

TEST_F(SpoiltVolume, AnIndexOfAnotherShapeIsNamed) {
  rewrite([](StoreVersion& version) { version.classes.erase(version.classes.begin() + 1); });
  expect_ends(
      error_of(ErrorCode::malformed, [&] { Cohort::open(path_)->volume_cells(0, "annotation"); }),
      "images/scan-000/labels/annotation/index: expected a uint32 array of 3 to 5 columns "
      "(place, 2 classes at most), found uint32 of 6; ingest the store again");
}

TEST_F(SpoiltVolume, ACellOutsideOfTheVolumeIsNamed) {
  replace("index/scan-000/zarr.json", "16,", "64,");
  replace("images/scan-000/labels/annotation/index/zarr.json", "16,", "64,");
  const std::string text =
      error_of(ErrorCode::malformed, [&] { Cohort::open(path_)->volume_cells(0, "annotation"); });
  EXPECT_NE(text.find("which lies outside of the volume"), std::string::npos) << text;
}

TEST(SlideStore, HasNoBody) {
  const TemporaryFolder folder;
  fixtures::StoreSpec spec;
  spec.images = 1;
  spec.height = spec.width = 200;
  fixtures::write_store(folder.path("c.zarr"), spec);
  const auto cohort = Cohort::open(folder.path("c.zarr"));
  expect_ends(error_of(ErrorCode::usage, [&] { cohort->body_mask(0); }),
              "c.zarr: a store of kind 'slide', where a store of volumes is needed");
  error_of(ErrorCode::usage, [&] { cohort->volume_cells(0, "annotation"); });
  error_of(ErrorCode::usage, [&] { cohort->histogram(0, "annotation"); });
}

}  // namespace
}  // namespace headrace::cohort
