#include "learn/train/preflight.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "headrace/core/error.hpp"
#include "learn/train/rehearsal.hpp"
#include "learn/train/start_banner.hpp"
#include "learn/train/trainer.hpp"
#include "tests/learn/train/training_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

/// The message by which a training is refused; the refusal leaves nothing behind.
class PreflightTest : public ::testing::Test {
 protected:
  std::string refusal(const Json& config) {
    const std::string out = fixture_.path("run");
    std::string said = "accepted";
    try {
      train(config::RunConfig::parse(config.dump(), "run.yaml"), {out, false, "test"});
    } catch (const Error& error) {
      said = error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(out)) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    return said;
  }
  Json config() const { return fixture_.config().to_json(); }

  /// Changes the facts of an image in the fixture's store.
  void edit(const std::string& id, const std::function<void(Json&)>& change) {
    const std::string file = fixture_.path("c.zarr/images/" + id + "/zarr.json");
    Json group = parse_json(fixtures::file_text(file), file);
    change(group["attributes"]["headrace"]);
    std::ofstream(file) << dump_json(group);
  }

  fixtures::TrainingFixture fixture_;
};

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(PreflightTest, ASplitWithoutImagesNamesTheNearest) {
  Json wrong = config();
  wrong["data"]["val"] = "vla";
  const std::string said = refusal(wrong);
  expect_in(said, "'vla'");
  expect_in(said, "Did you mean 'val'?");
  wrong = config();
  wrong["data"]["train"] = "trian";
  expect_in(refusal(wrong), "Did you mean 'train'?");
}

TEST_F(PreflightTest, ASlideWithoutStainEstimateIsNamed) {
  edit("slide-002", [](Json& own) { own["stain"] = nullptr; });
  Json stained = config();
  stained["transforms"].insert(stained["transforms"].begin(),
                               Json{{"stain_normalize", {{"method", "macenko"}}}});
  const std::string said = refusal(stained);
  expect_in(said, "no stain estimate");
  expect_in(said, "slide-002");
}

TEST_F(PreflightTest, ASlideWithoutTissueColoursIsNamed) {
  edit("slide-001", [](Json& own) {
    own["od"] = {{"pixels", 0}, {"sum", {0, 0, 0}}, {"product", {0, 0, 0, 0, 0, 0}}};
  });
  Json coloured = config();
  coloured["transforms"].insert(coloured["transforms"].begin(),
                                Json{{"scanner_color", Json::object()}});
  const std::string said = refusal(coloured);
  expect_in(said, "scanner_color");
  expect_in(said, "slide-001");
}

TEST_F(PreflightTest, AStoreWithoutLabelsIsRefused) {
  fixtures::StoreSpec spec;
  spec.labels = false;
  fixtures::write_store(fixture_.path("bare.zarr"), spec);
  Json unlabelled = config();
  unlabelled["data"]["store"] = fixture_.path("bare.zarr");
  expect_in(refusal(unlabelled), "so there is nothing to judge by");
}

TEST_F(PreflightTest, ClassWeightsThatDoNotFitAreRefused) {
  Json weighted = config();
  weighted["train"]["class_weights"] = {1, 2};
  expect_in(refusal(weighted), "train.class_weights");
}

TEST_F(PreflightTest, AVolumeWithoutBodyIsNamed) {
  fixtures::VolumeSpec spec;
  spec.air_alone = true;
  fixtures::write_volume_store(fixture_.path("air.zarr"), spec);
  const Json air = {{"task", "segmentation"},
                    {"data", {{"store", fixture_.path("air.zarr")}}},
                    {"patch", {{"size", {16, 32, 32}}, {"spacing_mm", {2.5, 1.6, 1.6}}}},
                    {"sampling", {{"foreground", 0.0}}},
                    {"transforms", {{{"normalize", {{"method", "zscore"}}}}}},
                    {"model", {{"widths", {8, 16}}}}};
  expect_in(refusal(air), "have no body, whose intensities a transform needs");
}

TEST(Preflight, ADiskThatIsTooSmallIsSaidWithBothNumbers) {
  const fixtures::TemporaryFolder folder;
  const std::string out = folder.path("not/there/yet");
  EXPECT_NO_THROW(check_disk(out, 1, 1));
  try {
    check_disk(out, std::uint64_t{1} << 60, 1);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    expect_in(error.what(), "MB are free");
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("not")));
}

TEST(Preflight, TheBannerSaysWhatEachSplitTeaches) {
  const fixtures::TrainingFixture fixture;
  const auto config = fixture.config();
  const auto cohort = cohort::Cohort::open(config.data.store);
  const inference::Network network(config, cohort->classes().size());
  const StartBanner banner = start_banner(config, *cohort, network);
  ASSERT_EQ(banner.lines.size(), 5u);
  expect_in(banner.lines[0], "CPU");
  expect_in(banner.lines[1], "split 'train': 2 images, 2 with labels");
  expect_in(banner.lines[1], "pattern3 ");
  expect_in(banner.lines[2], "split 'val': 1 images, 1 with labels");
  expect_in(banner.lines[3], "unet2d of widths 8, 16, patches halved to 1/2, 1/2");
  expect_in(banner.lines[4], "8 steps of 4 patches in 2 epochs");
  EXPECT_TRUE(banner.warnings.empty());
}

TEST(Preflight, ANetworkForCubesIsWarnedOfWhereVoxelsAreNone) {
  const fixtures::TemporaryFolder folder;
  fixtures::write_volume_store(folder.path("ct.zarr"), {});  // voxels of 2.5 × 0.8 × 0.8 mm
  const auto cohort = cohort::Cohort::open(folder.path("ct.zarr"));
  const auto warnings = [&](const Json& spacing, const Json& strides) {
    Json text = {{"task", "colorectal"},
                 {"data", {{"store", folder.path("ct.zarr")}}},
                 {"patch", {{"size", {16, 32, 32}}, {"spacing_mm", spacing}}},
                 {"model", {{"widths", {8, 16}}}}};
    if (!strides.is_null()) text["model"]["strides"] = strides;
    const auto config = config::RunConfig::parse(text.dump(), "run.yaml");
    return start_banner(config, *cohort, inference::Network(config, 3)).warnings;
  };
  const auto said = warnings(nullptr, nullptr);
  ASSERT_EQ(said.size(), 1u);
  expect_in(said[0], "patch.spacing_mm is null");
  expect_in(said[0], "2.5 × 0.8 × 0.8 mm");
  EXPECT_TRUE(warnings({2.5, 0.8, 0.8}, nullptr).empty());
  EXPECT_TRUE(warnings(nullptr, {{1, 1, 1}, {1, 2, 2}}).empty());
}

TEST(Preflight, AStepThatDoesNotFitIsSaidWithBothNumbers) {
  constexpr double kGiB = 1 << 30;
  EXPECT_NO_THROW(check_memory({17 * kGiB, 24 * kGiB}, false, 16));
  try {
    check_memory({17 * kGiB, 8 * kGiB}, false, 16);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::memory);
    expect_in(error.what(), "about 17.0 GiB of this machine");
    expect_in(error.what(), "there are 8.0");
    expect_in(error.what(), "sampling.batch");
  }
}

TEST(Preflight, TimesAreRough) {
  EXPECT_EQ(rough_time(48), "48 s");
  EXPECT_EQ(rough_time(720), "12 min");
  EXPECT_EQ(rough_time(3 * 3600 + 1440), "3.4 h");
  EXPECT_EQ(rough_time(86400 * 5), "5.0 days");
}

TEST(Preflight, ARehearsalLeavesNothing) {
  const fixtures::TrainingFixture fixture;
  const auto config = fixture.config();
  const auto cohort = cohort::Cohort::open(config.data.store);
  inference::Network network(config, cohort->classes().size());
  const std::string before = network.checkpoint({});
  ranks::ProcessGroup alone;
  const Rehearsed cost = rehearse(
      network, cohort, config, loader::make_training_plan(*cohort, config),
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config)),
      alone);
  EXPECT_EQ(network.checkpoint({}), before) << "weights, optimiser and its count";
  EXPECT_GT(cost.step_s, 0);
  EXPECT_GT(cost.tiles_s, 0);
  EXPECT_GT(cost.validation_batches, 0u);
  EXPECT_GT(cost.host.needed_bytes, 0);
  EXPECT_LT(cost.host.needed_bytes, cost.host.present_bytes);
}

}  // namespace
}  // namespace headrace::train
