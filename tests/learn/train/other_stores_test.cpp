#include <gtest/gtest.h>

#include <functional>

#include "headrace/core/error.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/evaluate_run.hpp"
#include "learn/train/trainer.hpp"
#include "tests/learn/train/training_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

using Splits = std::vector<std::string>;

/// The figures of a run on its own store, then on the same images with other splits.
void expect_same_everywhere(const fixtures::TemporaryFolder& folder,
                            const config::RunConfig& config,
                            const std::function<void(const std::string&, const Splits&)>& write) {
  const std::string run = folder.path("run");
  write(config.data.store, {"train", "train", "val"});
  train(config, {run, false, "test"});
  const Json own = runs::RunFolder::open(run).read_json("eval.json");
  ASSERT_TRUE(own.at("overall").at("mean_dice").is_number());
  EXPECT_EQ(own.at("unknown_classes"), Json::array());
  const struct {
    const char* store;
    Splits splits;
    const char* split;
  } others[] = {{"again.zarr", {"train", "train", "val"}, "val"},
                {"another-training-split.zarr", {"val", "test", "train"}, "train"},
                {"test-split-alone.zarr", {"", "", "test"}, "test"}};
  for (const auto& other : others) {
    write(folder.path(other.store), other.splits);
    const Json judged = evaluate_run({run, other.split, folder.path(other.store), "final"}).json;
    EXPECT_EQ(judged.at("overall").dump(), own.at("overall").dump()) << other.store;
    EXPECT_EQ(judged.at("images").dump(), own.at("images").dump()) << other.store;
  }
}

TEST(OtherStores, ARunOnSlidesGivesTheSameFiguresWhateverTheSplits) {
  const fixtures::TrainingFixture fixture;
  const fixtures::TemporaryFolder folder;
  Json config = fixture.config().to_json();
  config["data"]["store"] = folder.path("own.zarr");
  config["transforms"] = {
      {{"stain_normalize", {{"method", "macenko"}, {"reference", "slide-000"}}}},
      {{"scanner_color", Json::object()}}};
  const auto write = [](const std::string& path, const Splits& splits) {
    fixtures::StoreSpec spec;
    spec.height = 300;
    spec.width = 340;
    spec.levels = 2;
    spec.classes = {"background", "benign", "pattern3"};
    spec.splits = splits;
    fixtures::write_store(path, spec);
  };
  expect_same_everywhere(folder, config::RunConfig::parse(config.dump(), "run.yaml"), write);
}

TEST(OtherStores, ARunOnVolumesGivesTheSameFiguresWhateverTheSplits) {
  const fixtures::TemporaryFolder folder;
  const auto config =
      config::RunConfig::parse("task: segmentation\ndata: {store: " + folder.path("own.zarr") +
                                   "}\npatch: {size: [16, 32, 32], spacing_mm: [2.5, 1.6, 1.6]}\n"
                                   "sampling: {seed: 5, batch: 2, batches_per_epoch: 3}\n"
                                   "transforms:\n  - clip_percentiles: {of: foreground}\n"
                                   "  - normalize: {method: foreground}\n"
                                   "loader: {threads: 1, prefetch: 2}\nmodel: {widths: [8, 16]}\n"
                                   "train: {epochs: 1, threads: 1, log_every: 1}\n"
                                   "eval: {overlap: 0}\n",
                               "run.yaml");
  const auto write = [](const std::string& path, const Splits& splits) {
    fixtures::VolumeSpec spec;
    spec.splits = splits;
    fixtures::write_volume_store(path, spec);
  };
  expect_same_everywhere(folder, config, write);
}

TEST(OtherStores, APreprocessingThatIsNotTheRunsIsRefused) {
  const fixtures::TrainingFixture fixture;
  train(fixture.config(), {fixture.path("run"), false, "test"});
  runs::RunFolder folder = runs::RunFolder::open(fixture.path("run"));
  Json edited = folder.read_json("preprocessing.json");
  edited["classes"] = {"background", "pattern3", "benign"};
  folder.write_json("preprocessing.json", edited);
  for (const bool resumed : {false, true}) {
    try {
      if (resumed) {
        train(fixture.config(), {fixture.path("run"), true, "test"});
      } else {
        evaluate_run({fixture.path("run"), "", "", "final"});
      }
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt) << error.what();
    }
  }
}

}  // namespace
}  // namespace headrace::train
