#include "headrace/inference/run_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/train/run/run_changes.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::train {
namespace {

TEST(RunFolder, ANewRunNeedsAFreshFolder) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("run");
  inference::RunFolder run = inference::RunFolder::create(path);
  run.write_json("config.json", {{"a", 1}});
  EXPECT_THROW(inference::RunFolder::create(path), Error);
  EXPECT_EQ(inference::RunFolder::open(path).read_json("config.json").at("a"), 1);
  EXPECT_THROW(inference::RunFolder::open(folder.path("none")), Error);
  std::filesystem::create_directories(folder.path("other"));
  std::ofstream(folder.path("other") + "/thesis.tex") << "text";
  EXPECT_THROW(inference::RunFolder::create(folder.path("other")), Error);
}

TEST(RunFolder, MetricsAreRewoundToACheckpointAndCutLinesDropped) {
  const testing::TemporaryFolder folder;
  inference::RunFolder run = inference::RunFolder::create(folder.path("run"));
  for (int step = 1; step <= 4; ++step) run.append_metrics({{"step", step}, {"loss", 0.1 * step}});
  std::ofstream(run.path() / "metrics.jsonl", std::ios::app) << R"({"step":5,"lo)";
  EXPECT_EQ(run.metrics().size(), 4u);
  run.rewind_metrics(2);
  const auto lines = run.metrics();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].at("loss").get<double>(), 0.1 * 2);
  run.append_metrics({{"step", 3}});
  EXPECT_EQ(run.metrics().back().at("step"), 3);
}

TEST(RunFolder, KeepsTheNewestTwoCheckpoints) {
  const testing::TemporaryFolder folder;
  inference::RunFolder run = inference::RunFolder::create(folder.path("run"));
  for (const std::int64_t step : {5, 100, 20, 1000}) run.put_checkpoint(step, "x");
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{100, 1000}));
  std::ofstream(run.path() / "checkpoints/step-abc.safetensors") << "x";
  EXPECT_EQ(run.checkpoints().size(), 2u);
}

TEST(CheckResumedConfig, NamesEveryKeyThatChanged) {
  const Json stored = {{"train", {{"lr", 0.1}, {"epochs", 3}}},
                       {"loader", {{"threads", 1}, {"prefetch", 2}, {"gpudirect", "off"}}},
                       {"data", {{"store", "a"}, {"train", "train"}}}};
  Json given = stored;
  given["loader"]["threads"] = 7;
  given["loader"]["prefetch"] = 1;
  given["loader"]["gpudirect"] = "auto";
  given["loader"]["device_memory_mib"] = 100;
  given["data"]["store"] = "b";
  given["data"]["expect_hash"] = "c";
  EXPECT_NO_THROW(check_resumed_config(stored, given));
  given["train"]["lr"] = 0.2;
  given["train"]["clip"] = 1;
  try {
    check_resumed_config(stored, given);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    const std::string text = error.what();
    EXPECT_NE(text.find("train.lr: the run has 0.1, the config 0.2"), std::string::npos) << text;
    EXPECT_NE(text.find("train.clip: the run has null, the config 1"), std::string::npos) << text;
    EXPECT_EQ(text.find("threads"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace headrace::train
