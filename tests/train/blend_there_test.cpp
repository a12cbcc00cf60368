#include "tests/model/watched_operations.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "headrace/core/log.hpp"
#include "headrace/inference/canvas_choice.hpp"
#include "headrace/inference/patch_grid.hpp"
#include "headrace/train/evaluate/evaluate.hpp"
#include "headrace/train/run/run_identity.hpp"
#include "tests/loader/volume_fixture.hpp"
#include "tests/train/training_fixture.hpp"

// Evaluations whose tiles are blended where the model is, as on a GPU: on a CPU every figure and
// every picture must be the host's.
namespace headrace::train {
namespace {

/// HEADRACE_BLEND while it lives.
class Blend {
 public:
  explicit Blend(const char* where) { setenv("HEADRACE_BLEND", where, 1); }
  ~Blend() { unsetenv("HEADRACE_BLEND"); }
};

Evaluation evaluated(const char* where, const loader::RunConfig& config,
                     const EvaluateOptions& options) {
  const Blend blend(where);
  const auto cohort = open_cohort(config);
  inference::Network network(config, cohort->classes().size());
  EXPECT_EQ(network.blends_there(), std::string(where) == "model");
  const model::testing::WatchedOperations watch;
  Evaluation out = evaluate(network, cohort, config, options);
  // That of the tensor canvas alone.
  EXPECT_EQ(watch.count("aten::masked_fill_") > 0, network.blends_there());
  return out;
}

void expect_equal(const pixels::Image8& found, const pixels::Image8& wanted) {
  EXPECT_EQ(found.height, wanted.height);
  EXPECT_EQ(found.pixels, wanted.pixels);
}

void expect_same_there(const loader::RunConfig& config, const EvaluateOptions& options) {
  const Evaluation wanted = evaluated("host", config, options),
                   found = evaluated("model", config, options);
  EXPECT_EQ(testing::without_times(found.json).dump(2),
            testing::without_times(wanted.json).dump(2));
  EXPECT_EQ(found.mean_dice, wanted.mean_dice);
  ASSERT_EQ(found.montage.size(), wanted.montage.size());
  EXPECT_EQ(wanted.montage.empty(), options.montage == 0);
  for (std::size_t i = 0; i < wanted.montage.size(); ++i) {
    EXPECT_EQ(found.montage[i].tile_zyx, wanted.montage[i].tile_zyx);
    ASSERT_EQ(found.montage[i].pictures.size(), wanted.montage[i].pictures.size());
    for (std::size_t k = 0; k < wanted.montage[i].pictures.size(); ++k)
      expect_equal(found.montage[i].pictures[k].pixels, wanted.montage[i].pictures[k].pixels);
  }
  ASSERT_EQ(found.examples.size(), wanted.examples.size());
  for (std::size_t i = 0; i < wanted.examples.size(); ++i)
    expect_equal(found.examples[i].prediction, wanted.examples[i].prediction);
}

TEST(BlendThere, EvaluationsOfSlidesAreTheHosts) {
  const testing::TrainingFixture fixture;
  for (const char* task : {"segmentation", "gleason"}) {
    for (const double overlap : {0.0, 0.25, 0.5}) {
      auto config = fixture.config(task);
      config.eval.overlap = overlap;
      config.eval.batch = overlap == 0.25 ? 3 : 5;
      SCOPED_TRACE(::testing::Message() << task << " " << overlap);
      expect_same_there(config, {"train", overlap == 0.5 ? std::size_t{0} : std::size_t{4}});
    }
  }
}

TEST(BlendThere, EvaluationsOfVolumesAreTheHosts) {
  testing::VolumeSpec spec;
  spec.shape_zyx = {20, 44, 52};
  const testing::TemporaryFolder folder;
  testing::write_volume_store(folder.path("ct.zarr"), spec);
  for (const char* overlap : {"0", "0.25", "0.5"}) {
    const auto config = loader::RunConfig::parse(
        "task: colorectal\ndata: {store: " + folder.path("ct.zarr") +
            "}\npatch: {size: [8, 16, 16], spacing_mm: [2.5, 1.6, 1.6]}\nsampling: {seed: 3}\n"
            "transforms:\n  - window_hu: {low: -160, high: 240}\n"
            "model: {name: unet3d, widths: [8, 16]}\ntrain: {threads: 1}\n"
            "eval: {lesion_probability: 0.34, lesion_min_mm3: 0, lesion_classes: [lesion], batch: 3, "
            "overlap: " +
            std::string(overlap) + "}\n",
        "run.yaml");
    SCOPED_TRACE(overlap);
    expect_same_there(config, {"train", 3});
  }
}

/// Before the first tile, in one sentence, and with the memory that the canvas itself would take.
TEST(BlendThere, WhatDoesNotFitIsLeftToTheHost) {
  const testing::TrainingFixture fixture;
  const auto config = fixture.config();
  const auto cohort = open_cohort(config);
  const Blend blend("model");
  const inference::Network network(config, 3);
  const std::vector<std::uint32_t> images{0, 1, 2};
  const double needed = inference::tensor_canvas_bytes(3, inference::tile_window(config), 170);
  EXPECT_GT(needed, 64.0 * 170 * 4 * 4);
  std::vector<std::string> lines;
  log::set_sink([&](log::Level, const std::string& line) { lines.push_back(line); });
  const auto chosen = [&](std::optional<double> most) {
    return inference::canvas_there(
        network, 3, *cohort, config, images, {}, [](auto&) {}, most);
  };
  EXPECT_NE(chosen({}), nullptr);
  EXPECT_NE(chosen(needed), nullptr);
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(chosen(needed - 1), nullptr);
  log::set_sink({});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("tiles are blended on the CPU: on the GPU the widest slide would take"),
            std::string::npos)
      << lines[0];
}

TEST(BlendThere, AnotherWishIsRefused) {
  const testing::TrainingFixture fixture;
  const Blend blend("gpu");
  EXPECT_ANY_THROW(inference::Network(fixture.config(), 3));
}

}  // namespace
}  // namespace headrace::train
