/// Labels of images that hold none of the classes, and of what an annotation leaves out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "headrace/loader/loader.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::loader {
namespace {

using Counts = std::map<std::uint32_t, std::map<int, std::size_t>>;  // [image][label]

Counts labels_of(const std::shared_ptr<const cohort::Cohort>& cohort, const std::string& data,
                 const std::string& more) {
  const auto config = LoaderConfig::parse(
      "task: segmentation\ndata: {store: c.zarr" + data + "}\nmodel: {widths: [8, 16]}\n" + more,
      "run.yaml");
  const auto plan = make_training_plan(*cohort, config);
  Loader loader(cohort, config, plan, true, 0, 0, 30);
  Counts counts;
  while (auto batch = loader.next()) {
    const std::size_t pixels = batch->labels_bytes() / batch->sites.size();
    for (std::size_t s = 0; s < batch->sites.size(); ++s) {
      auto& of_image = counts[batch->sites[s].image];
      for (std::size_t p = 0; p < pixels; ++p) ++of_image[batch->labels[s * pixels + p]];
    }
  }
  return counts;
}

class Negatives : public ::testing::Test {
 protected:
  /// Image 0 has lesions, 1 an empty annotation, 2 grade group 0 and none, 3 nothing.
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::StoreSpec spec;
    spec.images = 4;
    spec.height = spec.width = 300;
    spec.splits = {"train"};
    spec.annotated = [](int i) { return i < 2; };
    spec.grade_group = [](int i) { return i == 2 ? 0 : 1; };
    spec.label = [](int i, std::int64_t y, std::int64_t x) {
      return static_cast<std::uint8_t>(i == 0 && (y / 50 + x / 50) % 2 == 0 ? 1 : 0);
    };
    fixtures::write_store(folder_->path("c.zarr"), spec);
    cohort_ = cohort::Cohort::open(folder_->path("c.zarr"));
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }
  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
  static inline std::shared_ptr<const cohort::Cohort> cohort_;
};

constexpr const char* kSlides =
    "patch: {size: [64, 64], mpp: 0.25}\nsampling: {batch: 4, foreground: 0.2}\n";

TEST_F(Negatives, TeachBackgroundAndImagesOfWhichNothingIsKnownTeachNothing) {
  const Counts counts = labels_of(cohort_, "", kSlides);
  ASSERT_EQ(counts.size(), 3u) << "image 3 is not sampled";
  EXPECT_GT(counts.at(0).at(0), 0u);
  EXPECT_GT(counts.at(0).at(1), 0u);
  for (const std::uint32_t image : {1u, 2u}) {
    EXPECT_GT(counts.at(image).at(0), 0u);
    EXPECT_EQ(counts.at(image).size(), 1u) << "nothing but background in image " << image;
  }
}

TEST_F(Negatives, WhatLiesOutsideOfThemIsIgnored) {
  // Patches larger than the image: beyond it there is nothing to know.
  const Counts counts =
      labels_of(cohort_, "", "patch: {size: [512, 512], mpp: 0.25}\nsampling: {batch: 2}\n");
  ASSERT_EQ(counts.size(), 3u);
  for (const auto& [image, of_image] : counts)
    EXPECT_NEAR(static_cast<double>(of_image.at(255)) / static_cast<double>(of_image.at(0)),
                image == 0 ? (512.0 * 512 - 300 * 300) / (300 * 300 / 2)
                           : (512.0 * 512 - 300 * 300) / (300 * 300),
                0.05)
        << image;
}

TEST_F(Negatives, OutsideIgnoreLeavesTheirBackgroundAndTakesThatOfAnnotatedImages) {
  const Counts counts = labels_of(cohort_, ", outside: ignore", kSlides);
  EXPECT_EQ(counts.at(0).count(0), 0u);
  EXPECT_GT(counts.at(0).at(1), 0u);
  EXPECT_GT(counts.at(0).at(255), 0u);
  for (const std::uint32_t image : {1u, 2u}) EXPECT_EQ(counts.at(image).count(255), 0u);
}

TEST(NegativeVolumes, AnEmptyAnnotationIsBackground) {
  const fixtures::TemporaryFolder folder;
  fixtures::VolumeSpec spec;
  spec.images = 2;
  spec.shape_zyx = {30, 60, 60};
  spec.splits = {"train"};
  spec.label = [](int i, std::int64_t, std::int64_t y, std::int64_t) {
    return static_cast<std::uint8_t>(i == 0 && y < 30 ? 2 : 0);
  };
  fixtures::write_volume_store(folder.path("c.zarr"), spec);
  const auto cohort = cohort::Cohort::open(folder.path("c.zarr"));
  const std::string patch =
      "patch: {size: [16, 16, 16], spacing_mm: null}\nsampling: {foreground: 0.2}\n";
  EXPECT_GT(labels_of(cohort, "", patch).at(0).at(0), 0u);
  const Counts counts = labels_of(cohort, ", outside: ignore", patch);
  EXPECT_EQ(counts.at(0).count(0), 0u);
  EXPECT_EQ(counts.at(1).size(), 1u);
  EXPECT_GT(counts.at(1).at(0), 0u);
}

}  // namespace
}  // namespace headrace::loader
