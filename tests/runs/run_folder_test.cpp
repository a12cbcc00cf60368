#include "headrace/runs/run_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "headrace/core/error.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::runs {
namespace {

TEST(RunFolder, ANewRunNeedsAFreshFolder) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("run");
  RunFolder run = RunFolder::create(path);
  run.write_json("config.json", {{"a", 1}});
  EXPECT_THROW(RunFolder::create(path), Error);
  EXPECT_EQ(RunFolder::open(path).read_json("config.json").at("a"), 1);
  EXPECT_THROW(RunFolder::open(folder.path("none")), Error);
  std::filesystem::create_directories(folder.path("other"));
  std::ofstream(folder.path("other") + "/thesis.tex") << "text";
  EXPECT_THROW(RunFolder::create(folder.path("other")), Error);
}

TEST(RunFolder, MetricsAreRewoundToACheckpointAndCutLinesDropped) {
  const testing::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
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

TEST(RunFolder, StepsAreRewoundWithMetricsAndStartsAreKept) {
  const testing::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  run.rewind_metrics(0);
  EXPECT_FALSE(run.has("steps.jsonl"));  // nor does a run of before get one
  run.append_steps("{\"step\":1,\"loss\":0.1}\n{\"step\":2,\"loss\":0.30000000000000004}\n");
  run.append_steps("{\"step\":3}\n{\"step\":4,\"lo");
  run.append_start({{"step", 0}});
  EXPECT_EQ(run.lines("steps.jsonl").size(), 3u);
  EXPECT_EQ(run.lines("steps.jsonl", 2).size(), 2u);
  run.rewind_metrics(2);
  run.append_start({{"step", 2}});
  const auto steps = run.lines("steps.jsonl");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].at("loss").get<double>(), 0.1 + 0.2);
  const auto starts = run.lines("starts.jsonl");
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[1].at("step"), 2);
  EXPECT_TRUE(run.lines("none.jsonl").empty());
}

TEST(RunFolder, KeepsTheNewestTwoCheckpoints) {
  const testing::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  for (const std::int64_t step : {5, 100, 20, 1000}) run.put_checkpoint(step, "x");
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{100, 1000}));
  std::ofstream(run.path() / "checkpoints/step-abc.safetensors") << "x";
  EXPECT_EQ(run.checkpoints().size(), 2u);
}

}  // namespace
}  // namespace headrace::runs
