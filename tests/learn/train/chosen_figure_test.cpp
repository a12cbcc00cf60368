#include "learn/train/evaluate/chosen_figure.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "learn/runs/run_folder.hpp"
#include "learn/train/run/run_identity.hpp"
#include "learn/train/trainer.hpp"
#include "tests/learn/train/training_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

/// Of three scans the scanner of one is not stated, and it has no truth: no network has a figure
/// in its group.
TEST(ChosenFigure, AScannerThatIsNotStatedAndHasNoTruthIsNotTheWorst) {
  const fixtures::TemporaryFolder folder;
  fixtures::VolumeSpec spec;
  spec.shape_zyx = {20, 44, 52};
  spec.splits = {"val"};
  spec.annotated = [](int i) { return i < 2; };
  spec.scanner = [](int i) { return i < 2 ? "scanner-" + std::to_string(i) : ""; };
  fixtures::write_volume_store(folder.path("ct.zarr"), spec);
  const auto config =
      config::RunConfig::parse("task: segmentation\ndata: {store: " + folder.path("ct.zarr") +
                                   ", train: val}\n"
                                   "patch: {size: [20, 44, 52], spacing_mm: [2.5, 0.8, 0.8]}\n"
                                   "transforms:\n  - window_hu: {low: -160, high: 240}\n"
                                   "model: {name: unet3d, widths: [8, 16]}\n"
                                   "train: {threads: 1, best: {over: worst_scanner}}\n",
                               "run.yaml");
  const auto cohort = open_cohort(config);
  inference::Network network(config, cohort->classes().size());
  const Evaluation evaluation = evaluate(network, cohort, config, {"val"});
  const Json& scanners = evaluation.json.at("scanners");
  ASSERT_EQ(scanners.size(), 3u);
  ASSERT_TRUE(scanners.at("not stated").at("mean_dice").is_null());
  const double worst = std::min(scanners.at("scanner-0").at("mean_dice").get<double>(),
                                scanners.at("scanner-1").at("mean_dice").get<double>());
  const ChosenFigure chosen = chosen_figure(evaluation, *cohort, config);
  EXPECT_EQ(chosen.value, worst) << chosen.undefined_in;
}

/// Slides to judge by that have a grade alone: no validation has a Dice.
TEST(ChosenFigure, AnUndefinedDiceIsNeverTheBestAndEndsNothing) {
  const fixtures::TemporaryFolder folder;
  fixtures::StoreSpec spec;
  spec.height = 300;
  spec.width = 340;
  spec.levels = 2;
  spec.classes = {"background", "benign", "pattern3"};
  spec.annotated = [](int i) { return i < 2; };
  spec.grade_group = [](int i) { return i < 2 ? -1 : 1; };
  fixtures::write_store(folder.path("c.zarr"), spec);
  const fixtures::TrainingFixture fixture;
  auto config = fixture.config("gleason");
  config.data.store = folder.path("c.zarr");
  config.train.epochs = 3;
  config.train.patience = 1;
  const TrainResult result = train(config, {folder.path("run"), false, "test"}).value();
  EXPECT_EQ(result.steps, 12);
  EXPECT_EQ(result.json.at("stopped_early"), false);
  EXPECT_EQ(result.best_step, 0);
  EXPECT_EQ(result.best_mean_dice, std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(folder.path("run") + "/best.safetensors"));
}

}  // namespace
}  // namespace headrace::train
