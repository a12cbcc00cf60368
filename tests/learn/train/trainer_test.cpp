#include "learn/train/trainer.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/runs/weights_identity.hpp"
#include "learn/train/evaluate_run.hpp"
#include "tests/learn/train/training_fixture.hpp"
#include "tests/matrices.hpp"

namespace headrace::train {
namespace {

using fixtures::file_text;
using fixtures::without_times;

/// One fixture and one unbroken run, made once.
class TrainerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fixture_ = std::make_unique<fixtures::TrainingFixture>();
    result_ = train(fixture_->config(), {fixture_->path("whole"), false, "test"}).value();
  }
  static void TearDownTestSuite() { fixture_.reset(); }

  static std::string run(const std::string& name) { return fixture_->path(name); }
  static std::string refusal(const config::RunConfig& config, const TrainOptions& options) {
    try {
      train(config, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "accepted";
  }
  static void expect_same(const std::string& name) {
    const runs::RunFolder a = runs::RunFolder::open(run("whole")),
                          b = runs::RunFolder::open(run(name));
    const auto lines_a = a.metrics(), lines_b = b.metrics();
    ASSERT_EQ(lines_a.size(), lines_b.size());
    for (std::size_t i = 0; i < lines_a.size(); ++i) {
      EXPECT_EQ(without_times(lines_a[i]), without_times(lines_b[i])) << i;
    }
    for (const char* file :
         {"final.safetensors", "best.safetensors", "checkpoints/step-00000006.safetensors",
          "checkpoints/step-00000008.safetensors", "eval-slides.csv"}) {
      const std::string text = file_text(run("whole") + "/" + file);
      EXPECT_FALSE(text.empty()) << file;
      EXPECT_EQ(sha256_hex(text), sha256_hex(file_text(run(name) + "/" + file))) << file;
    }
    EXPECT_EQ(without_times(a.read_json("eval.json")), without_times(b.read_json("eval.json")));
    EXPECT_EQ(without_times(a.read_json("summary.json")),
              without_times(b.read_json("summary.json")));
  }

  static std::unique_ptr<fixtures::TrainingFixture> fixture_;
  static TrainResult result_;
};
std::unique_ptr<fixtures::TrainingFixture> TrainerTest::fixture_;
TrainResult TrainerTest::result_;

TEST_F(TrainerTest, WritesARunThatSaysWhatItIs) {
  runs::RunFolder folder = runs::RunFolder::open(run("whole"));
  EXPECT_EQ(folder.read_json("config.json"), fixture_->config().to_json());
  const Json identity = folder.read_json("run.json");
  EXPECT_EQ(identity.at("config_hash"), fixture_->config().hash());
  EXPECT_EQ(identity.at("dataset_hash"), result_.dataset_hash);
  EXPECT_EQ(identity.at("runtime").at("threads"), 1);
  const std::string weights = file_text(run("whole") + "/final.safetensors");
  EXPECT_EQ(result_.weights_sha256,
            runs::weights_identity(std::as_bytes(std::span(weights)), "final"));
  EXPECT_EQ(result_.steps, 8);
  EXPECT_TRUE(folder.has("report.html"));
  // 8 steps, a line every 2; a validation after each of 2 epochs.
  const auto lines = folder.metrics();
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[2].at("validation").at("mean_dice").is_number(), true);
  EXPECT_EQ(lines[5].at("validation").at("mean_dice"), result_.mean_dice.value());
  EXPECT_EQ(lines[5].at("validation").at("dice").size(), result_.dice.size());
  EXPECT_GT(lines[0].at("loss").get<double>(), lines[4].at("loss").get<double>());
}

TEST_F(TrainerTest, TwiceTheSame) {
  train(fixture_->config(), {run("twice"), false, "test"});
  expect_same("twice");
}

TEST_F(TrainerTest, LoaderThreadsAndPrefetchDoNotMatter) {
  auto config = fixture_->config();
  config.loader.threads = 3;
  config.loader.prefetch = 5;
  train(config, {run("threads"), false, "test"});
  expect_same("threads");
}

TEST_F(TrainerTest, ResumedFromAnyCheckpointIsTheUnbrokenRun) {
  // What a kill leaves: checkpoints up to one step, lines of later steps, a cut line.
  for (const bool after_the_last_step : {true, false}) {
    const std::string name = after_the_last_step ? "killed-8" : "killed-6";
    std::filesystem::copy(run("whole"), run(name), std::filesystem::copy_options::recursive);
    for (const char* file : {"final.safetensors", "eval.json", "summary.json", "report.html"}) {
      std::filesystem::remove(run(name) + "/" + file);
    }
    if (!after_the_last_step) {
      std::filesystem::remove(run(name) + "/checkpoints/step-00000008.safetensors");
    }
    std::ofstream(run(name) + "/metrics.jsonl", std::ios::app) << R"({"step":9,"loss)";
    train(fixture_->config(), {run(name), true, "test"});
    expect_same(name);
  }
}

TEST_F(TrainerTest, ResumedBeforeTheFirstCheckpointStartsAnew) {
  runs::RunFolder folder = runs::RunFolder::create(run("early"));
  folder.write_json("config.json", fixture_->config().to_json());
  folder.write("run.json", file_text(run("whole") + "/run.json"));
  folder.write("preprocessing.json", file_text(run("whole") + "/preprocessing.json"));
  folder.append_metrics({{"step", 2}, {"loss", 99.0}});
  train(fixture_->config(), {run("early"), true, "test"});
  expect_same("early");
}

TEST_F(TrainerTest, AFinishedRunResumedStaysAsItIs) {
  std::filesystem::copy(run("whole"), run("again"), std::filesystem::copy_options::recursive);
  train(fixture_->config(), {run("again"), true, "test"});
  expect_same("again");
}

TEST_F(TrainerTest, ASignalLeavesACheckpointToResumeFrom) {
  /// Asked to stop as soon as something is logged.
  struct Listener : StopListener {
    int asked() noexcept override {
      std::error_code none;
      const auto size = std::filesystem::file_size(run("signal") + "/metrics.jsonl", none);
      return !none && size > 0 ? SIGTERM : 0;
    }
  };
  TrainOptions options{run("signal"), false, "test"};
  options.listen_for_stop = [] { return std::make_unique<Listener>(); };
  try {
    train(fixture_->config(), options);
    ADD_FAILURE() << "the run was not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
    const std::string text = error.what();
    EXPECT_NE(text.find("Stopped by SIGTERM after step"), std::string::npos) << text;
    EXPECT_NE(text.find("with resume to go on"), std::string::npos) << text;
  }
  EXPECT_FALSE(runs::RunFolder::open(run("signal")).checkpoints().empty());
  train(fixture_->config(), {run("signal"), true, "test"});
  // The kept checkpoints may be of other steps than the unbroken run's; everything else is the
  // same.
  EXPECT_EQ(file_text(run("signal") + "/final.safetensors"),
            file_text(run("whole") + "/final.safetensors"));
  EXPECT_EQ(without_times(runs::RunFolder::open(run("signal")).read_json("eval.json")),
            without_times(runs::RunFolder::open(run("whole")).read_json("eval.json")));
}

TEST_F(TrainerTest, ResumeRefusesWhatWouldChangeTheResult) {
  auto config = fixture_->config();
  config.train.lr = 1e-4;
  EXPECT_NE(refusal(config, {run("whole"), true, "test"}).find("train.lr: the run has 0.003"),
            std::string::npos);
  config = fixture_->config();
  config.train.threads = 2;
  EXPECT_NE(refusal(config, {run("whole"), true, "test"}).find("train.threads"), std::string::npos);
  EXPECT_NE(refusal(fixture_->config(), {run("whole"), true, "other"}).find("code_version"),
            std::string::npos);
  EXPECT_NE(refusal(fixture_->config(), {run("whole"), false, "test"}).find("already holds a run"),
            std::string::npos);
}

TEST_F(TrainerTest, AResumedRunMayBeJudgedOnAnotherSplit) {
  std::filesystem::copy(run("whole"), run("mended"), std::filesystem::copy_options::recursive);
  auto config = fixture_->config();
  config.data.val = "train";
  train(config, {run("mended"), true, "test+g0123456789.dirty"});  // another build of the release
  const runs::RunFolder mended = runs::RunFolder::open(run("mended"));
  EXPECT_EQ(file_text(run("mended") + "/final.safetensors").substr(1024),
            file_text(run("whole") + "/final.safetensors").substr(1024))
      << "weights; the hash of the config in front of them is another";
  EXPECT_EQ(mended.read_json("eval.json").at("split"), "train");
  EXPECT_EQ(mended.read_json("config.json").at("data").at("val"), "train");
  EXPECT_EQ(mended.read_json("run.json").at("config_hash"), config.hash());
  std::size_t validations = 0;
  for (const Json& line : mended.metrics()) validations += line.contains("validation") ? 1 : 0;
  EXPECT_EQ(validations, 1u) << "those of the other split are set aside";
  EXPECT_EQ(mended.lines(runs::kFormerValidations).size(), 2u);
  // No step is left to choose from, so the best weights are those that were chosen before.
  EXPECT_EQ(file_text(run("mended") + "/best.safetensors"),
            file_text(run("whole") + "/best.safetensors"));
  const Json best = mended.read_json("summary.json").at("best");
  EXPECT_EQ(best.at("step"), result_.best_step);
  EXPECT_TRUE(best.at("mean_dice").is_null()) << "it is not known by these rules";
}

TEST_F(TrainerTest, IntervalsAreAddedToAFinishedRunWithoutAnotherChoice) {
  auto config = fixture_->config();
  config.train.patience = 1;
  config.train.epochs = 4;
  config.train.min_delta = 1;  // so the first validation stays the best to beat, and ends it
  const TrainResult first = train(config, {run("intervals"), false, "test"}).value();
  const std::string metrics = file_text(run("intervals") + "/metrics.jsonl"),
                    best = file_text(run("intervals") + "/best.safetensors");
  config.eval.bootstrap = 20;
  const TrainResult again = train(config, {run("intervals"), true, "test"}).value();
  EXPECT_EQ(file_text(run("intervals") + "/metrics.jsonl"), metrics);
  EXPECT_EQ(file_text(run("intervals") + "/best.safetensors"), best);
  EXPECT_EQ(again.json.at("best"), first.json.at("best"));
  EXPECT_EQ(again.json.at("stopped_early"), true);
  const runs::RunFolder folder = runs::RunFolder::open(run("intervals"));
  EXPECT_FALSE(folder.has(runs::kFormerValidations));
  EXPECT_EQ(folder.read_json("config.json").at("eval").at("bootstrap"), 20);
  EXPECT_EQ(folder.read_json("run.json").at("config_hash"), config.hash());
  EXPECT_EQ(folder.read_json("eval.json").at("rules").at("eval").at("bootstrap"), 20);
}

/// Each time that the training asks whether to stop: after steps, and within validations, where the
/// run goes on with that validation.
TEST_F(TrainerTest, StoppedWheneverItAsksItIsTheUnbrokenRun) {
  struct Listener : StopListener {
    Listener(int at, int* asked_in_all) : at(at), asked_in_all(asked_in_all) {}
    int asked() noexcept override {
      ++*asked_in_all;
      return ++asked_so_far >= at ? SIGTERM : 0;
    }
    int asked_so_far = 0, at;  // a signal stays asked for
    int* asked_in_all;
  };
  int asks = 0;
  TrainOptions unbroken{run("asked"), false, "test"};
  unbroken.listen_for_stop = [&] {
    return std::make_unique<Listener>(std::numeric_limits<int>::max(), &asks);
  };
  train(fixture_->config(), unbroken);
  ASSERT_GE(asks, 8);
  std::size_t within_validations = 0;
  // The last time that it asks it has ended.
  for (const int i : fixtures::cases_to_run("a training that is stopped", asks - 1, 7)) {
    const int at = i + 1;
    const std::string name = "asked-" + std::to_string(at);
    TrainOptions options{run(name), false, "test"};
    int asked = 0;
    options.listen_for_stop = [&] { return std::make_unique<Listener>(at, &asked); };
    try {
      train(fixture_->config(), options);
      ADD_FAILURE() << "not stopped: " << name;
      continue;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::cancelled) << error.what();
    }
    const runs::RunFolder folder = runs::RunFolder::open(run(name));
    ASSERT_FALSE(folder.checkpoints().empty());
    std::size_t validations = 0;
    for (const Json& line : folder.metrics()) validations += line.contains("validation") ? 1 : 0;
    if (folder.checkpoints().back() == 4 && validations == 0) ++within_validations;
    train(fixture_->config(), {run(name), true, "test"});
    for (const char* file : {"final.safetensors", "best.safetensors", "steps.jsonl",
                             "checkpoints/step-00000008.safetensors"}) {
      EXPECT_EQ(file_text(run(name) + "/" + file), file_text(run("whole") + "/" + file))
          << name << " " << file;
    }
    const auto lines = runs::RunFolder::open(run(name)).metrics(),
               expected = runs::RunFolder::open(run("whole")).metrics();
    ASSERT_EQ(lines.size(), expected.size()) << name;
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(without_times(lines[i]), without_times(expected[i])) << name << " " << i;
    std::filesystem::remove_all(run(name));
  }
  EXPECT_GT(within_validations, fixtures::whole_matrices() ? 2u : 0u);
}

/// What a kill in a validation leaves where a checkpoint is due after the same step.
TEST_F(TrainerTest, ACheckpointIsWrittenBeforeTheValidationOfItsStep) {
  auto config = fixture_->config();
  config.train.checkpoint_every = 4;
  train(config, {run("due"), false, "test"});
  struct Listener : StopListener {
    int asked() noexcept override {
      const std::string checkpoint = run("before") + "/checkpoints/step-00000004.safetensors";
      if (!seen.empty() || !std::filesystem::exists(checkpoint)) return 0;
      seen = file_text(checkpoint);  // as a kill would leave it here
      std::filesystem::copy(run("before"), run("before-killed"),
                            std::filesystem::copy_options::recursive);
      return 0;
    }
    std::string seen;
  };
  TrainOptions options{run("before"), false, "test"};
  options.listen_for_stop = [] { return std::make_unique<Listener>(); };
  train(config, options);
  const runs::RunFolder killed = runs::RunFolder::open(run("before-killed"));
  EXPECT_FALSE(killed.last_metrics().contains("validation"));
  train(config, {run("before-killed"), true, "test"});
  for (const char* file :
       {"final.safetensors", "best.safetensors", "steps.jsonl",
        "checkpoints/step-00000004.safetensors", "checkpoints/step-00000008.safetensors"}) {
    EXPECT_EQ(file_text(run("before-killed") + "/" + file), file_text(run("due") + "/" + file));
  }
}

TEST_F(TrainerTest, LinesThatAPowerFailureTookAreSaid) {
  std::filesystem::copy(run("whole"), run("lost"), std::filesystem::copy_options::recursive);
  const std::string steps = file_text(run("lost") + "/steps.jsonl");
  std::ofstream(run("lost") + "/steps.jsonl") << steps.substr(0, steps.find("{\"batch\"", 1));
  std::string said;
  log::set_sink([&](log::Level, const std::string& line) { said += line + "\n"; });
  train(fixture_->config(), {run("lost"), true, "test"});
  log::set_sink({});
  EXPECT_NE(said.find("the newest checkpoint is that of step 8: lines were lost"),
            std::string::npos)
      << said;
}

TEST_F(TrainerTest, AnotherDatasetIsRefused) {
  auto config = fixture_->config();
  config.data.expect_hash = std::string(64, '0');
  EXPECT_NE(refusal(config, {run("hash"), false, "test"}).find("expect_hash"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(run("hash")));
  fixtures::StoreSpec other;
  other.height = 300;
  other.width = 350;
  other.levels = 2;
  other.classes = {"background", "benign", "pattern3"};
  fixtures::write_store(run("d.zarr"), other);
  config = fixture_->config();
  config.data.store = run("d.zarr");
  // A run goes on with its own version, which another store does not have.
  const std::string absent = refusal(config, {run("whole"), true, "test"});
  EXPECT_NE(absent.find("d.zarr: no version '"), std::string::npos) << absent;
  config.data.version = cohort::Cohort::open(run("d.zarr"))->dataset_hash();
  EXPECT_NE(refusal(config, {run("whole"), true, "test"}).find("dataset_hash: the run has"),
            std::string::npos);
}

TEST_F(TrainerTest, EvalRepeatsTheFiguresAndTakesAnotherSplitOrStore) {
  std::filesystem::copy(run("whole"), run("evals"), std::filesystem::copy_options::recursive);
  const EvaluationFigures again = evaluate_run({run("evals"), "", "", "final"});
  EXPECT_EQ(again.json.at("overall"),
            runs::RunFolder::open(run("whole")).read_json("eval.json").at("overall"));
  const EvaluationFigures train_split = evaluate_run({run("evals"), "train", "", "best"});
  EXPECT_EQ(train_split.overall.images, 2);
  EXPECT_EQ(train_split.split, "train");
  std::size_t others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run("evals"))) {
    others += entry.path().filename().string().starts_with("eval-best-train-") ? 1 : 0;
  }
  EXPECT_EQ(others, 3u);  // JSON, and CSV of slides and of cases
  fixtures::StoreSpec other;
  other.classes = {"glass", "gland", "tumour"};
  fixtures::write_store(run("e.zarr"), other);
  try {
    evaluate_run({run("evals"), "", run("e.zarr"), "final"});
    ADD_FAILURE() << "a store that knows no class of the run was judged";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("matched by name"), std::string::npos);
  }
}

TEST_F(TrainerTest, GleasonRunsHaveGradesAndKappa) {
  const Json summary =
      train(fixture_->config("gleason"), {run("gleason"), false, "test"}).value().json;
  EXPECT_TRUE(summary.contains("grades"));
  const Json eval = runs::RunFolder::open(run("gleason")).read_json("eval.json");
  EXPECT_EQ(eval.at("overall").at("gleason").at("slides"), 1);
  EXPECT_TRUE(eval.at("images")[0].at("predicted_grade").at("grade_group").is_number_integer());
  EXPECT_NE(file_text(run("gleason") + "/eval-slides.csv").find("true_grade_group"),
            std::string::npos);
}

}  // namespace
}  // namespace headrace::train
