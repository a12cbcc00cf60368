#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/trainer.hpp"
#include "learn/train/training_times.hpp"
#include "tests/learn/train/training_fixture.hpp"

// On a GPU the figures of a step are read some steps later. Here the same is done on the CPU, whose
// runs without it are the reference: nothing that is written may differ by a byte.
namespace headrace::train {
namespace {

using fixtures::file_text;
using fixtures::without_times;

constexpr std::size_t kLate = 3;

/// Twenty steps: those of the first ten, whose weights are recorded, are read at once.
class LateFigures : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fixture_ = std::make_unique<fixtures::TrainingFixture>();
    train(config(), options("whole", 0));
  }
  static void TearDownTestSuite() { fixture_.reset(); }

  static config::RunConfig config() {
    config::RunConfig config = fixture_->config();
    config.train.epochs = 1;
    config.sampling.batches_per_epoch = 20;
    config.train.checkpoint_every = 7;
    config.train.log_every = 3;
    config.train.keep_checkpoints = 9;
    return config;
  }
  static std::string run(const std::string& name) { return fixture_->path(name); }
  static TrainOptions options(const std::string& name, std::size_t behind, bool resume = false) {
    TrainOptions options{run(name), resume, "test"};
    options.code = Json::object();
    options.read_behind = behind;
    return options;
  }
  static ErrorCode refusal(const config::RunConfig& config, const TrainOptions& options,
                           std::string& text) {
    try {
      train(config, options);
    } catch (const Error& error) {
      text = error.what();
      return error.code();
    }
    ADD_FAILURE() << "it came to its end";
    return ErrorCode::internal;
  }
  static void expect_the_same(const std::string& name) {
    EXPECT_EQ(file_text(run(name) + "/steps.jsonl"), file_text(run("whole") + "/steps.jsonl"));
    const auto lines = runs::RunFolder::open(run(name)).metrics(),
               expected = runs::RunFolder::open(run("whole")).metrics();
    ASSERT_EQ(lines.size(), expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(without_times(lines[i]), without_times(expected[i])) << i;
    for (const char* file :
         {"final.safetensors", "best.safetensors", "checkpoints/step-00000014.safetensors",
          "checkpoints/step-00000020.safetensors"}) {
      EXPECT_EQ(file_text(run(name) + "/" + file), file_text(run("whole") + "/" + file)) << file;
    }
  }

  static std::unique_ptr<fixtures::TrainingFixture> fixture_;
};
std::unique_ptr<fixtures::TrainingFixture> LateFigures::fixture_;

TEST_F(LateFigures, LeaveTheSameBytes) {
  EXPECT_GT(std::ranges::count(file_text(run("whole") + "/steps.jsonl"), '\n'), 19);
  train(config(), options("late", kLate));
  expect_the_same("late");
}

/// Stopped when a step's figures are still unread: they are written before the checkpoint.
TEST_F(LateFigures, OfAStoppedTrainingAreWrittenBeforeItsCheckpoint) {
  struct Listener : StopListener {
    int asked() noexcept override { return ++asked_so_far == 20 ? SIGTERM : 0; }
    int asked_so_far = 0;  // at least once a step
  };
  TrainOptions stopped = options("stopped", kLate);
  stopped.listen_for_stop = [] { return std::make_unique<Listener>(); };
  std::string text;
  EXPECT_EQ(refusal(config(), stopped, text), ErrorCode::cancelled);
  const runs::RunFolder folder = runs::RunFolder::open(run("stopped"));
  std::int64_t last = 0;
  folder.for_each_line("steps.jsonl", [&](const Json& line) {
    last = line.at("step").get<std::int64_t>();
    return true;
  });
  EXPECT_EQ(folder.checkpoints().back(), last);
  EXPECT_GT(last, 10);
  train(config(), options("stopped", kLate, /*resume=*/true));
  EXPECT_EQ(file_text(run("stopped") + "/steps.jsonl"), file_text(run("whole") + "/steps.jsonl"));
  EXPECT_EQ(file_text(run("stopped") + "/final.safetensors"),
            file_text(run("whole") + "/final.safetensors"));
}

/// What kill -9 leaves: the checkpoint of step 14, lines up to any later step, a cut one.
TEST_F(LateFigures, OfAKilledTrainingAreMadeAgain) {
  std::filesystem::copy(run("whole"), run("killed"), std::filesystem::copy_options::recursive);
  for (const char* file :
       {"final.safetensors", "eval.json", "summary.json", "checkpoints/step-00000020.safetensors"})
    std::filesystem::remove(run("killed") + "/" + file);
  const std::string all = file_text(run("whole") + "/steps.jsonl");
  std::filesystem::resize_file(run("killed") + "/steps.jsonl", all.size() - 40);
  train(config(), options("killed", kLate, /*resume=*/true));
  expect_the_same("killed");
}

struct Watcher : TrainingWatcher {
  explicit Watcher(std::int64_t until) : last_wanted(until) {}
  void begins(const Json&, const loader::Preprocessing&) override {}
  bool goes_on(const StepRecord& step) override {
    seen.push_back(step);
    return step.step != last_wanted;
  }
  std::int64_t last_wanted;
  std::vector<StepRecord> seen;
};

TEST_F(LateFigures, AWatcherSeesEachStepOnceAndNoneAfterItsLast) {
  Watcher at_once(12), late(12);
  for (const auto& [watcher, behind] : {std::pair{&at_once, std::size_t{0}}, {&late, kLate}}) {
    TrainOptions watched = options("watched", behind);
    watched.watcher = watcher;
    watched.steps_only = true;
    train(config(), watched);
  }
  ASSERT_EQ(late.seen.size(), 12u);
  ASSERT_EQ(at_once.seen.size(), 12u);
  for (std::size_t i = 0; i < late.seen.size(); ++i)
    EXPECT_EQ(late.seen[i].to_json(), at_once.seen[i].to_json());
}

/// A rate at which the loss overflows: the same error as without delay, of the same batch, after the
/// lines of the steps before it, and no checkpoint of what came of it.
TEST_F(LateFigures, ALossThatIsNotFiniteIsTheSameErrorAndLeavesNoCheckpoint) {
  config::RunConfig diverging = config();
  diverging.train.lr = 1e38;
  diverging.train.clip_norm = 0;
  diverging.train.checkpoint_every = 1000;
  std::string at_once, late;
  EXPECT_EQ(refusal(diverging, options("diverged-0", 0), at_once), ErrorCode::diverged);
  EXPECT_EQ(refusal(diverging, options("diverged-3", kLate), late), ErrorCode::diverged);
  EXPECT_EQ(at_once, late);
  EXPECT_EQ(file_text(run("diverged-3") + "/steps.jsonl"),
            file_text(run("diverged-0") + "/steps.jsonl"));
  EXPECT_FALSE(file_text(run("diverged-3") + "/steps.jsonl").empty());
  EXPECT_TRUE(runs::RunFolder::open(run("diverged-3")).checkpoints().empty());
}

/// The loss is finite, what its step made of the weights is not: only a checkpoint would show it.
TEST_F(LateFigures, WeightsThatAreNotFiniteAreNotKept) {
  config::RunConfig diverging = config();
  diverging.train.lr = std::numeric_limits<float>::max();
  diverging.train.weight_decay = 10;  // a step adds numbers too large for float32
  diverging.train.checkpoint_every = 1;
  for (const std::size_t behind : {std::size_t{0}, kLate}) {
    const std::string name = "weights-" + std::to_string(behind);
    std::string text;
    EXPECT_EQ(refusal(diverging, options(name, behind), text), ErrorCode::diverged);
    EXPECT_NE(text.find("holds numbers that are not finite"), text.npos) << text;
    EXPECT_TRUE(runs::RunFolder::open(run(name)).checkpoints().empty());
    EXPECT_FALSE(std::filesystem::exists(run(name) + "/best.safetensors"));
  }
}

TEST(TrainingTimes, AGpuIsStarvedOnlyWhileTheHostWaitedToo) {
  TrainingTimes times;
  times.add({.idle_s = 5, .wait_s = 0.25, .step_s = 2}, 0.5, /*after_pause=*/true);
  EXPECT_EQ(times.starved_s, 0.75);  // the pause was for something else
  EXPECT_EQ(times.step_s, 2);
  times.add({.idle_s = 0, .wait_s = 0, .step_s = 2}, 1.5, false);  // it had work meanwhile
  EXPECT_EQ(times.starved_s, 0.75);
  EXPECT_EQ(times.step_s, 4);
  times.add({.idle_s = 1, .wait_s = 0, .step_s = 2}, 0.25, false);  // the host was slow to start it
  EXPECT_EQ(times.starved_s, 1);
  EXPECT_EQ(times.step_s, 6.75);
}

}  // namespace
}  // namespace headrace::train
