// Several patches of one place as one sample (the key `views`).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/transform/tensor_format.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::loader {
namespace {

constexpr const char* kBase =
    "task: segmentation\ndata: {store: c.zarr}\n"
    "sampling: {seed: 3, batch: 5, batches_per_epoch: 3, keep_inside: false}\n";
constexpr const char* kPatch = "patch: {size: [64, 96], mpp: 0.5}\n";
constexpr const char* kRandom =
    "  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], translate: 0.3, flip: true}\n"
    "  - color_jitter: {brightness: 0.25, contrast: 0.25, saturation: 0.25, hue: 0.04}\n";

class Views : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_store(folder_->path("c.zarr"), {});
    cohort_ = cohort::Cohort::open(folder_->path("c.zarr"));
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }
  static Batch batch_of(const std::string& more, std::uint64_t index = 0, int threads = 2,
                        bool labels = false) {
    auto config = LoaderConfig::parse(kBase + more, "run.yaml");
    config.loader.threads = threads;
    Loader loader(cohort_, config, make_training_plan(*cohort_, config), labels, 0, index);
    return *loader.next();
  }
  static std::vector<float> values(const Batch& batch) {
    const float* first = batch.floats();
    return {first, first + batch.images_bytes() / sizeof(float)};
  }
  /// Crop `c` of each sample.
  static std::vector<float> crop(const Batch& batch, std::int64_t c) {
    const std::int64_t one = 3 * batch.height * batch.width;
    std::vector<float> out;
    for (std::int64_t s = 0; s < batch.samples; ++s) {
      const float* first = batch.floats() + (s * batch.contexts + c) * one;
      out.insert(out.end(), first, first + one);
    }
    return out;
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
  static inline std::shared_ptr<const cohort::Cohort> cohort_;
};

TEST_F(Views, TheFirstCropIsThePatchOfAConfigWithoutViews) {
  const std::string transforms = std::string("transforms:\n") + kRandom;
  const Batch plain = batch_of(kPatch + transforms, 0, 2, true);
  const Batch one = batch_of(kPatch + transforms + "views: [{name: one}]\n", 0, 2, true);
  EXPECT_EQ(values(one), values(plain));
  EXPECT_EQ(0, std::memcmp(one.labels, plain.labels, plain.labels_bytes()));
  const Batch many = batch_of(
      kPatch + transforms + "views: [{name: a, crops: 3}, {name: b, crops: 2, size: [32, 16]}]\n");
  EXPECT_EQ(crop(many, 0), values(plain));
  EXPECT_EQ(values(many.of_view(0)), values(many));
  EXPECT_EQ(many.of_view(1).images_shape(), (std::vector<std::int64_t>{5, 2, 3, 32, 16}));
}

TEST_F(Views, AViewIsTheBatchOfALoaderWithItsPatchAndTransforms) {
  const Batch views =
      batch_of(std::string(kPatch) + "transforms:\n" + kRandom +
               "views:\n  - {name: a}\n"
               "  - {name: fine, crops: 2, size: [40, 24], mpp: 0.25, transforms: []}\n"
               "  - {name: wide, mpp: 1, transforms: [normalize: {mean: [0.7, 0.55, "
               "0.7], std: [0.2, 0.22, 0.18]}]}\n");
  const Batch fine = batch_of("patch: {size: [40, 24], mpp: 0.25}\n");
  const Batch wide = batch_of(
      "patch: {size: [64, 96], mpp: 1}\ntransforms:\n  - normalize: {mean: [0.7, 0.55, 0.7], std: "
      "[0.2, 0.22, 0.18]}\n");
  // Places do not depend on the size of patches here, since these may leave the image.
  ASSERT_EQ(views.views.size(), 3U);
  EXPECT_EQ(views.views[1].name, "fine");
  EXPECT_EQ(crop(views.of_view(1), 0), values(fine));
  EXPECT_EQ(crop(views.of_view(1), 1), values(fine)) << "nothing of it is random";
  EXPECT_EQ(values(views.of_view(2)), values(wide));
}

TEST_F(Views, EachCropIsDrawnByItselfWhateverTheThreads) {
  const std::string config = std::string(kPatch) + "transforms:\n" + kRandom +
                             "views: [{name: a, crops: 4}, {name: b, crops: 4}]\n";
  std::set<std::vector<float>> crops;
  const Batch batch = batch_of(config, 2, 4);
  for (std::size_t v = 0; v < 2; ++v) {
    for (int c = 0; c < 4; ++c) crops.insert(crop(batch.of_view(v), c));
  }
  EXPECT_EQ(crops.size(), 8U);
  const Batch again = batch_of(config, 2, 1);
  EXPECT_EQ(values(again), values(batch));
  EXPECT_EQ(values(again.of_view(1)), values(batch.of_view(1)));
}

TEST_F(Views, AreStoredAsBatchesAre) {
  const std::string config =
      std::string(kPatch) + "views: [{name: a}, {name: b, crops: 3, size: [17, 33]}]\n";
  const Batch floats = batch_of(config).of_view(1);
  const Batch halves =
      batch_of(config + "loader: {element: bfloat16, layout: channels_last}\n").of_view(1);
  ASSERT_EQ(halves.images_bytes() * 2, floats.images_bytes());
  std::vector<std::byte> expected(halves.images_bytes());
  const std::int64_t pixels = 17 * 33;
  for (std::int64_t i = 0; i < 15; ++i) {
    transform::convert(floats.floats() + i * 3 * pixels,
                       {expected.data() + i * 3 * pixels * 2, halves.format, 3, pixels});
  }
  EXPECT_EQ(0, std::memcmp(halves.images, expected.data(), expected.size()));
}

std::string refusal(const std::string& more) {
  try {
    LoaderConfig::parse(kBase + more, "run.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return {};
}

TEST_F(Views, WhatIsRefused) {
  const std::string patch = kPatch;
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(refusal(patch + "views: [{crops: 2}]\n"), "name");
  says(refusal(patch + "views: [{name: a}, {name: a}]\n"), "two views are called a");
  says(refusal(patch + "views: [{name: 'a/b'}]\n"), "letters, digits and _");
  says(refusal(patch + "views: [{name: a, crops: 65}]\n"), "1 to 64");
  says(refusal(patch + "views: [{name: a, sise: [32, 32]}]\n"), "sise");
  says(refusal(patch + "views: [{name: a, transforms: [afine: {}]}]\n"), "affine");
  says(refusal("patch: {size: [64, 64], mpp: null}\nviews: [{name: a, mpp: 0.5}]\n"),
       "patch.mpp is null");
  says(refusal("patch: {size: [64, 64], context: [1, 2]}\nviews: [{name: a}]\n"), "patch.context");
  says(refusal("patch: {size: [32, 64, 64]}\nviews: [{name: a}]\n"), "run on volumes");
  says(refusal(patch + "views:\n  - {name: a, transforms: [stain_normalize: {reference: x}]}\n"
                       "  - {name: b, transforms: [stain_normalize: {reference: y}]}\n"),
       "a run has one");
  EXPECT_THROW(batch_of(patch + "views: [{name: a, crops: 2}]\n", 0, 1, true), Error)
      << "labels of which crop?";
}

}  // namespace
}  // namespace headrace::loader
