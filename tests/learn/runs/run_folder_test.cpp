#include "learn/runs/run_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/storage/lock_file.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::runs {
namespace {

TEST(RunFolder, ANewRunNeedsAFreshFolder) {
  const fixtures::TemporaryFolder folder;
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
  const fixtures::TemporaryFolder folder;
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

TEST(RunFolder, RewindingKeepsTheBytesOfTheLinesThatStay) {
  const fixtures::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  EXPECT_TRUE(run.last_metrics().is_null());
  const std::string stays = "{\"step\":1,  \"loss\":1e0}\n\n{\"step\":2}\n";
  run.append_steps(stays + "{\"step\":3}\n\n{\"step\":4}\n");
  for (const int step : {1, 2, 2, 3}) run.append_metrics({{"step", step}});
  EXPECT_EQ(run.last_metrics().at("step"), 3);
  run.rewind_metrics(2);
  const auto bytes = run.read("steps.jsonl");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), stays);
  EXPECT_EQ(run.metrics().size(), 3u);
  EXPECT_EQ(run.last_metrics().at("step"), 2);
  run.rewind_metrics(0);
  EXPECT_TRUE(run.last_metrics().is_null());
  EXPECT_TRUE(run.metrics().empty() && run.lines("steps.jsonl").empty());
}

TEST(RunFolder, TheLastLineIsThatOfNowAlsoWhenItWasReadBefore) {
  const fixtures::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  for (const int step : {1, 2, 3}) {
    run.append_metrics({{"step", step}});
    EXPECT_EQ(run.last_metrics().at("step"), step);
  }
  run.rewind_metrics(2);
  run.append_metrics({{"step", 7}});
  EXPECT_EQ(run.last_metrics().at("step"), 7);
}

TEST(RunFolder, LinesAreReadOnlyAsFarAsTheyAreWanted) {
  const fixtures::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  run.append_steps("{\"step\":1}\n{\"step\":2}\nno JSON\n");
  std::vector<Json> seen;
  run.for_each_line("steps.jsonl", [&](const Json& line) {
    seen.push_back(line);
    return seen.size() < 2;
  });
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_THROW(run.lines("steps.jsonl"), Error);
}

TEST(RunFolder, StepsAreRewoundWithMetricsAndStartsAreKept) {
  const fixtures::TemporaryFolder folder;
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

TEST(RunFolder, ALinkIsFollowedOnce) {
  const fixtures::TemporaryFolder folder;
  for (const char* name : {"one", "two"}) {
    RunFolder run = RunFolder::create(folder.path(name));
    run.write_json("config.json", {{"of", name}});
    run.write_json("weights", {{"of", name}});
  }
  const std::filesystem::path link = folder.path("link"), other = folder.path("other");
  std::filesystem::create_symlink("one", link);
  std::filesystem::create_symlink(link, other);
  const RunFolder run = RunFolder::open(link), further = RunFolder::open(other.string() + "/");
  std::filesystem::remove(link);
  std::filesystem::create_symlink("two", link);
  EXPECT_EQ(run.read_json("weights").at("of"), "one");  // that of the config, which was there then
  EXPECT_EQ(further.read_json("weights").at("of"), "one");
  EXPECT_EQ(RunFolder::open(link).read_json("weights").at("of"), "two");
}

TEST(RunFolder, OneTrainingAtATimeHasItsLock) {
  const fixtures::TemporaryFolder folder;
  const std::string path = folder.path("run");
  {
    RunFolder first = RunFolder::create(path);
    first.lock();
    RunFolder second = RunFolder::create(path);  // a lock alone is no run
    EXPECT_THROW(second.lock(), Error);
    second = first;  // a copy has it, too
  }
  RunFolder::create(path).lock();
}

/// As on NFS, where a folder can't be locked: the file in it can.
TEST(RunFolder, IsLockedWhereFoldersCannotBe) {
  const fixtures::TemporaryFolder folder;
  RunFolder first = RunFolder::create(folder.path("run"));
  first.lock();
  EXPECT_FALSE(storage::try_lock_file(first.path() / kLockFile).valid());
}

TEST(RunFolder, NothingIsTrainedWithoutALock) {
  const fixtures::TemporaryFolder folder;
  auto* const real = storage::flock_call();
  storage::flock_call() = [](int, int) { return errno = ENOLCK, -1; };
  try {
    RunFolder::create(folder.path("run")).lock();
    ADD_FAILURE() << "two could train in it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("has no locks"), std::string::npos) << error.what();
  }
  storage::flock_call() = real;
}

TEST(RunFolder, NothingTrainsInAPromotedModel) {
  const fixtures::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  run.write_json("config.json", {});
  RunFolder(run).lock();
  run.write_json("gate.json", {});
  EXPECT_THROW(run.lock(), Error);
}

TEST(RunFolder, ValidationsThatAreSetAsideSayByWhatTheyWereJudged) {
  const fixtures::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  for (const int step : {1, 2, 3}) {
    run.append_metrics({{"step", step}, {"loss", 0.5}});
    run.append_metrics({{"step", step}, {"validation", {{"mean_dice", 0.1 * step}}}});
  }
  const std::vector<Json> before = run.metrics();
  run.set_validations_aside("a");
  EXPECT_EQ(run.metrics().size(), 3u);
  std::vector<Json> aside = run.lines(kFormerValidations);
  ASSERT_EQ(aside.size(), 3u);
  EXPECT_EQ(aside[1].at("config_hash"), "a");
  EXPECT_EQ(aside[1].at("validation"), before[3].at("validation"));
  // A kill after the first of both files: the same again.
  std::string metrics;
  for (const Json& line : before) metrics += line.dump() + "\n";
  run.write("metrics.jsonl", metrics);
  run.set_validations_aside("a");
  EXPECT_EQ(run.lines(kFormerValidations), aside);
  run.append_metrics({{"step", 4}, {"validation", {{"mean_dice", 0.4}}}});
  run.set_validations_aside("b");
  EXPECT_EQ(run.lines(kFormerValidations).size(), 4u);
  EXPECT_EQ(run.metrics().size(), 3u);
}

/// A power failure then leaves no checkpoint without the lines of its steps.
TEST(RunFolder, LinesAreOnTheDiskBeforeTheCheckpoint) {
  const fixtures::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  run.append_metrics({{"step", 1}});
  run.append_steps("{\"step\":1}\n");
  static std::vector<std::string> synced;
  synced.clear();
  auto& calls = posix::calls();
  const posix::Calls real = calls;
  calls.fsync = [](int fd) {
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
    synced.push_back(path.filename().string());
    return ::fsync(fd);
  };
  run.put_checkpoint(1, "x");
  calls = real;
  ASSERT_GE(synced.size(), 4u);
  EXPECT_EQ(std::vector(synced.begin(), synced.begin() + 3),
            (std::vector<std::string>{"metrics.jsonl", "steps.jsonl", "run"}));
}

TEST(RunFolder, KeepsTheNewestTwoCheckpoints) {
  const fixtures::TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder.path("run"));
  for (const std::int64_t step : {5, 100, 20, 1000}) run.put_checkpoint(step, "x");
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{100, 1000}));
  std::ofstream(run.path() / "checkpoints/step-abc.safetensors") << "x";
  EXPECT_EQ(run.checkpoints().size(), 2u);
}

}  // namespace
}  // namespace headrace::runs
