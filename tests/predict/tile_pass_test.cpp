#include "headrace/predict/tile_pass.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "headrace/inference/patch_grid.hpp"
#include "headrace/inference/volume/original_grid.hpp"
#include "headrace/predict/volume/finding_rules.hpp"
#include "headrace/predict/volume/voxel_scores.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::predict {
namespace {

/// Volumes of an odd extent, and a network that has not learnt anything, at a spacing of its own.
class VolumePassTest : public ::testing::Test {
 protected:
  VolumePassTest() {
    testing::VolumeSpec spec;
    spec.images = 2;
    spec.shape_zyx = {19, 43, 51};
    testing::write_volume_store(folder_.path("ct.zarr"), spec);
    run_.config = loader::RunConfig::parse(
        "task: colorectal\ndata: {store: " + folder_.path("ct.zarr") +
            "}\npatch: {size: [8, 16, 16], spacing_mm: [4.1, 1.1, 0.7]}\nsampling: {seed: 3}\n"
            "transforms:\n  - window_hu: {low: -160, high: 240}\n"
            "model: {name: unet3d, widths: [8, 16]}\ntrain: {threads: 1}\n"
            "eval: {lesion_classes: [lesion, liver], batch: 3}\n",
        "run.yaml");
    cohort_ = cohort::Cohort::open(folder_.path("ct.zarr"));
    run_.preprocessing = std::make_shared<const loader::Preprocessing>(
        loader::Preprocessing::fit(*cohort_, run_.config));
    lesions_ = lesion_classes(run_.classes(), run_.config);
  }

  std::vector<BlendedPart> parts(const char* where, bool alone = true) {
    setenv("HEADRACE_BLEND", where, 1);
    run_.network = std::make_shared<inference::Network>(run_.config, 3);
    unsetenv("HEADRACE_BLEND");
    TilePass::Options options;
    options.alone = alone;
    TilePass pass(run_, cohort_, {0, 1}, options);
    std::vector<BlendedPart> out;
    while (auto part = pass.next()) out.push_back(std::move(*part));
    return out;
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const cohort::Cohort> cohort_;
  TrainedRun run_;
  std::vector<std::uint8_t> lesions_;
};

TEST_F(VolumePassTest, WithTheNetworkComesWhatTheHostMakesOfProbabilities) {
  ASSERT_EQ(lesions_, (std::vector<std::uint8_t>{1, 2}));
  const std::vector<BlendedPart> found = parts("model"), blended = parts("host");
  ASSERT_EQ(found.size(), 2u * 19u);
  std::size_t next = 0;
  std::optional<inference::OriginalGrid> grid;
  for (const BlendedPart& part : blended) {
    EXPECT_TRUE(part.scores.empty());
    const cohort::ImageRecord& record = cohort_->images()[part.image];
    const auto compare = [&, image = part.image](std::int64_t z, std::span<const float> p) {
      VoxelScores wanted;
      score_voxels(p, 3, lesions_, wanted);
      ASSERT_LT(next, found.size());
      const BlendedPart& own = found[next++];
      EXPECT_EQ(own.image, image);
      EXPECT_EQ(own.at, z);
      EXPECT_TRUE(own.probabilities.empty());
      const VoxelScores scores = voxel_scores_of_rows(own.classes, own.scores, 3);
      EXPECT_EQ(scores.classes, wanted.classes);
      EXPECT_EQ(scores.probabilities, wanted.probabilities);
      EXPECT_EQ(scores.lesion, wanted.lesion);
    };
    if (part.at == 0) {
      grid.emplace(3, inference::extent_zyx(record, run_.config),
                   record.volume->levels.front().shape_zyx,
                   inference::step_zyx(record, run_.config), compare);
    }
    grid->add(part.probabilities);
  }
  EXPECT_EQ(next, found.size());
}

/// Means of runs are made of probabilities on the grid of patches.
TEST_F(VolumePassTest, WhatIsNotAloneIsBlendedOnTheHost) {
  const std::vector<BlendedPart> wanted = parts("host"), found = parts("model", false);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(found[i].probabilities, wanted[i].probabilities);
    EXPECT_FALSE(found[i].probabilities.empty());
  }
}

}  // namespace
}  // namespace headrace::predict
