#include "tests/learn/model/watched_operations.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "headrace/core/ignore_label.hpp"
#include "headrace/core/log.hpp"
#include "learn/inference/canvas_choice.hpp"
#include "learn/inference/canvas_memory.hpp"
#include "learn/inference/patch_grid.hpp"
#include "learn/inference/stitcher.hpp"
#include "learn/train/evaluate/baseline.hpp"
#include "learn/train/evaluate/evaluate.hpp"
#include "learn/train/evaluate/evaluation_memory.hpp"
#include "learn/train/evaluate/gathered_tiles.hpp"
#include "learn/train/run/run_identity.hpp"
#include "tests/learn/inference/tiles_there.hpp"
#include "tests/learn/train/training_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

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

Evaluation evaluated(const char* where, const config::RunConfig& config,
                     const EvaluateOptions& options) {
  const Blend blend(where);
  const auto cohort = open_cohort(config);
  inference::Network network(config, cohort->classes().size());
  EXPECT_EQ(network.blends_there(), std::string(where) == "model");
  const model::fixtures::WatchedOperations watch;
  Evaluation out = evaluate(network, cohort, config, options);
  // That of the tensor canvas alone.
  EXPECT_EQ(watch.count("aten::masked_fill_") > 0, network.blends_there());
  return out;
}

void expect_equal(const pixels::Image8& found, const pixels::Image8& wanted) {
  EXPECT_EQ(found.height, wanted.height);
  EXPECT_EQ(found.pixels, wanted.pixels);
}

void expect_same_there(const config::RunConfig& config, const EvaluateOptions& options) {
  const Evaluation wanted = evaluated("host", config, options),
                   found = evaluated("model", config, options);
  EXPECT_EQ(fixtures::without_times(found.json).dump(2),
            fixtures::without_times(wanted.json).dump(2));
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
  for (std::size_t i = 0; i < wanted.examples.size(); ++i) {
    EXPECT_EQ(found.examples[i].slice, wanted.examples[i].slice);
    expect_equal(found.examples[i].truth, wanted.examples[i].truth);
    expect_equal(found.examples[i].prediction, wanted.examples[i].prediction);
  }
}

TEST(BlendThere, EvaluationsOfSlidesAreTheHosts) {
  const fixtures::TrainingFixture fixture;
  for (const char* task : {"segmentation", "gleason"}) {
    for (const double overlap : {0.0, 0.25, 0.5}) {
      auto config = fixture.config(task);
      config.tiles.overlap = overlap;
      config.tiles.batch = overlap == 0.25 ? 3 : 5;
      SCOPED_TRACE(::testing::Message() << task << " " << overlap);
      expect_same_there(config, {"train", overlap == 0.5 ? std::size_t{0} : std::size_t{4}});
    }
  }
}

/// Volumes of odd extents, one of them without labels and one that is annotated in part; runs at
/// spacings of their own, at that of the store, finer and coarser.
class VolumesThere : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fixtures::VolumeSpec spec;
    spec.images = 4;
    spec.shape_zyx = {19, 43, 51};
    fixtures::VolumeSpec in_part = spec;
    in_part.annotated = [](int image) { return image != 1; };
    in_part.label = [spec](int image, std::int64_t z, std::int64_t y, std::int64_t x) {
      return image == 3 && x % 5 == 0 ? kIgnoreLabel
                                      : fixtures::fixture_volume_label(spec, image, z, y, x);
    };
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_volume_store(folder_->path("ct.zarr"), in_part);
  }
  static void TearDownTestSuite() { folder_.reset(); }
  config::RunConfig config(const std::string& spacing, const std::string& eval,
                           const std::string& task = "colorectal") const {
    return config::RunConfig::parse(
        "task: " + task + "\ndata: {store: " + folder_->path("ct.zarr") +
            "}\npatch: {size: [8, 16, 16], spacing_mm: " + spacing +
            "}\nsampling: {seed: 3}\ntransforms:\n  - window_hu: {low: -160, high: 240}\n"
            "model: {name: unet3d, widths: [8, 16]}\ntrain: {threads: 1}\n"
            "eval: {batch: 3, " +
            eval + "}\n",
        "run.yaml");
  }

  static constexpr const char* kLesions =
      "lesion_probability: 0.34, lesion_min_mm3: 0, lesion_classes: [lesion]";

 private:
  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
};

TEST_F(VolumesThere, EvaluationsAreTheHosts) {
  const std::string lesions = kLesions;
  for (const auto& [spacing, eval] : std::vector<std::pair<std::string, std::string>>{
           {"[2.5, 1.6, 1.6]", lesions + ", overlap: 0"},
           {"[4.1, 1.1, 0.7]", lesions + ", overlap: 0.25"},
           {"[1.7, 2.3, 0.8]", lesions + ", overlap: 0.25, bootstrap: 20"},
           {"null", lesions + ", overlap: 0.5"}}) {
    SCOPED_TRACE(spacing);
    expect_same_there(config(spacing, eval), {"train", 3});
  }
}

TEST_F(VolumesThere, EvaluationsWithoutLesionsOrPicturesAreTheHosts) {
  expect_same_there(config("[3.3, 1.6, 1.3]", "overlap: 0.25", "segmentation"), {"train", 4});
  expect_same_there(config("[3.3, 1.6, 1.3]", kLesions), {"train", 0});
}

TEST_F(VolumesThere, TheBaselineIsMeasuredBesideThem) {
  const auto run = config("[3.3, 1.6, 1.3]", kLesions);
  EvaluateOptions options{"train", 2};
  options.baseline = std::make_shared<const Baseline>(fit_baseline(*open_cohort(run), run));
  expect_same_there(run, options);
}

/// What the host gets are classes on level 0, and nothing waits while they are made.
TEST_F(VolumesThere, NoProbabilityComesToTheHost) {
  const auto run = config("[4.1, 1.1, 0.7]", kLesions);
  const auto cohort = open_cohort(run);
  const Blend blend("model");
  const inference::Network network(run, 3);
  const std::vector<std::uint32_t> images{0, 1};
  std::vector<std::int64_t> at;
  const auto sink = [&](inference::StitchedPart& part) {
    EXPECT_TRUE(part.probabilities.empty());
    EXPECT_EQ(part.predicted.size(), 43u * 51u);
    at.push_back(part.at);
  };
  const auto window = inference::tile_window(run);
  const std::vector<float> thirds(3 * 8 * 16 * 16, 1.0f / 3);
  const at::Tensor tile = fixtures::tensor_there<float>(thirds);  // where the network is
  const model::fixtures::WatchedOperations watch;
  inference::Stitcher stitcher(
      window,
      [&](std::uint32_t image) { return inference::extent_zyx(cohort->images()[image], run); },
      inference::canvas_there(network, {3, *cohort, run, images}, {}, sink));
  for (const std::uint32_t image : images)
    stitcher.add({image, {4, 9, 5}, tile.const_data_ptr<float>(), nullptr});
  stitcher.finish();
  ASSERT_EQ(at.size(), 2u * 19u);
  for (std::size_t i = 0; i < at.size(); ++i) EXPECT_EQ(at[i], static_cast<std::int64_t>(i % 19));
  EXPECT_EQ(watch.host_reads() + watch.waits_for_copies(), 0);
}

/// Level 0 counts into what a canvas takes; tiles' own grid here is far coarser.
TEST_F(VolumesThere, WhatDoesNotFitIsLeftToTheHost) {
  const auto run = config("[5, 3.2, 3.2]", kLesions);
  const auto cohort = open_cohort(run);
  const Blend blend("model");
  const inference::Network network(run, 3);
  const std::vector<std::uint32_t> images{0, 1, 2};
  const auto window = inference::tile_window(run);
  const auto bytes = [](const inference::CanvasExtent& extent) {
    return inference::held_bytes(extent) + inference::working_bytes(extent);
  };
  const double alone = bytes({3, window, 11 * 13}), needed = bytes({3, window, 11 * 13, 43 * 51});
  EXPECT_GT(needed, alone + 3 * 43 * 51 * 4.0);
  std::vector<std::string> lines;
  log::set_sink([&](log::Level, const std::string& line) { lines.push_back(line); });
  const auto chosen = [&](double most) {
    return inference::canvas_there(
        network, {3, *cohort, run, images}, {}, [](auto&) {}, most);
  };
  EXPECT_NE(chosen(needed), nullptr);
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(chosen(needed - 1), nullptr);
  log::set_sink({});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("on the GPU the widest volume would take"), std::string::npos);
}

/// Parts that are under way lie in the host's memory.
TEST_F(VolumesThere, LatePartsCountIntoTheHostsMemory) {
  const auto run = config("null", kLesions);
  const auto cohort = open_cohort(run);
  const auto preprocessing = loader::Preprocessing::fit(*cohort, run);
  const double here = evaluation_bytes(*cohort, run, preprocessing, "train", {}),
               there = evaluation_bytes(*cohort, run, preprocessing, "train", {.late = true});
  EXPECT_EQ(there - here, 256.0 * 1024 * 1024);
  const double three = evaluation_bytes(*cohort, run, preprocessing, "train", {.processes = 3});
  const double rows = GatheredTiles::bytes(3, cohort->classes().size(), run);
  EXPECT_GT(rows, 0);
  EXPECT_GT(three - here, rows);  // and two more rings
}

/// Before the first tile, in one sentence, and with the memory that the canvas itself would take.
TEST(BlendThere, WhatDoesNotFitIsLeftToTheHost) {
  const fixtures::TrainingFixture fixture;
  const auto config = fixture.config();
  const auto cohort = open_cohort(config);
  const Blend blend("model");
  const inference::Network network(config, 3);
  const std::vector<std::uint32_t> images{0, 1, 2};
  const inference::CanvasExtent extent{3, inference::tile_window(config), 170};
  const double needed = inference::held_bytes(extent) + inference::working_bytes(extent);
  EXPECT_GT(needed, 64.0 * 170 * 4 * 4);
  std::vector<std::string> lines;
  log::set_sink([&](log::Level, const std::string& line) { lines.push_back(line); });
  const auto chosen = [&](std::optional<double> most) {
    return inference::canvas_there(
        network, {3, *cohort, config, images}, {}, [](auto&) {}, most);
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
  const fixtures::TrainingFixture fixture;
  const Blend blend("gpu");
  EXPECT_ANY_THROW(inference::Network(fixture.config(), 3));
}

}  // namespace
}  // namespace headrace::train
