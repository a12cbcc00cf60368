// Poly schedule, averaged weights and frozen tensors in whole trainings.
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/inference/network.hpp"
#include "learn/model/safetensors.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/evaluate_run.hpp"
#include "learn/train/trainer.hpp"
#include "tests/learn/train/training_fixture.hpp"

namespace headrace::train {
namespace {

using fixtures::file_text;
using fixtures::without_times;

std::map<std::string, at::Tensor> tensors_of(const std::string& bytes, const std::string& prefix) {
  std::map<std::string, at::Tensor> out;
  for (const auto& entry : model::parse_safetensors(std::as_bytes(std::span(bytes)), "w").tensors) {
    if (entry.name.starts_with(prefix)) out[entry.name.substr(prefix.size())] = entry.tensor;
  }
  return out;
}

class TrainingOptions : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fixture_ = std::make_unique<fixtures::TrainingFixture>();
    train(config(), {fixture_->path("whole"), false, "test"});
  }
  static void TearDownTestSuite() { fixture_.reset(); }

  static config::RunConfig config() {
    auto config = fixture_->config();
    config.train.schedule = config::Schedule::poly;
    config.train.ema = 0.9;
    config.train.freeze = {"encoder.0", "context"};
    return config;
  }
  static std::string file(const std::string& run, const std::string& name) {
    return file_text(fixture_->path(run) + "/" + name);
  }

  static std::unique_ptr<fixtures::TrainingFixture> fixture_;
};
std::unique_ptr<fixtures::TrainingFixture> TrainingOptions::fixture_;

TEST_F(TrainingOptions, ResumedIsTheUnbrokenRun) {
  namespace fs = std::filesystem;
  fs::copy(fixture_->path("whole"), fixture_->path("killed"), fs::copy_options::recursive);
  for (const char* name : {"final.safetensors", "eval.json", "summary.json",
                           "checkpoints/step-00000008.safetensors"}) {
    ASSERT_TRUE(fs::remove(fixture_->path("killed") + "/" + name)) << name;
  }
  train(config(), {fixture_->path("killed"), true, "test"});
  for (const char* name :
       {"final.safetensors", "best.safetensors", "checkpoints/step-00000008.safetensors"}) {
    ASSERT_FALSE(file("whole", name).empty());
    EXPECT_EQ(sha256_hex(file("killed", name)), sha256_hex(file("whole", name))) << name;
  }
  const runs::RunFolder a = runs::RunFolder::open(fixture_->path("whole"));
  const runs::RunFolder b = runs::RunFolder::open(fixture_->path("killed"));
  EXPECT_EQ(without_times(a.read_json("eval.json")), without_times(b.read_json("eval.json")));
}

TEST_F(TrainingOptions, TheAverageIsJudgedAndKept) {
  const std::string checkpoint = file("whole", "checkpoints/step-00000008.safetensors");
  const auto average = tensors_of(checkpoint, "average."), last = tensors_of(checkpoint, "model.");
  const auto final = tensors_of(file("whole", "final.safetensors"), "model.");
  ASSERT_EQ(final.size(), last.size());
  bool differs = false;
  for (const auto& [name, tensor] : final) {
    EXPECT_TRUE(tensor.equal(average.at(name))) << name;
    differs = differs || !tensor.equal(last.at(name));
  }
  EXPECT_TRUE(differs);
  // The same figures when the weights are loaded again: what was judged is what was kept.
  const runs::RunFolder folder = runs::RunFolder::open(fixture_->path("whole"));
  const Json judged = folder.read_json("eval.json").at("overall");
  EvalRequest request;
  request.run = fixture_->path("whole");
  EXPECT_EQ(evaluate_run(request).json.at("overall"), judged);
}

TEST_F(TrainingOptions, FrozenTensorsAreThoseOfTheStart) {
  const inference::Network fresh(config(), 3);
  const auto start = tensors_of(fresh.weights({}), "model.");
  const auto final = tensors_of(file("whole", "final.safetensors"), "model.");
  int kept = 0, moved = 0;
  for (const auto& [name, tensor] : final) {
    const bool frozen = name.starts_with("encoder.0.") || name.starts_with("context.");
    EXPECT_EQ(tensor.equal(start.at(name)), frozen) << name;
    (frozen ? kept : moved) += 1;
  }
  EXPECT_GT(kept, 6);
  EXPECT_GT(moved, 6);
}

TEST_F(TrainingOptions, RatesFollowThePowerLaw) {
  int seen = 0;
  for (const Json& line : runs::RunFolder::open(fixture_->path("whole")).metrics()) {
    if (!line.contains("learning_rate")) continue;
    ++seen;
    const double done = (line.at("step").get<double>() - 1) / 8;
    EXPECT_NEAR(line.at("learning_rate").get<double>(), 3e-3 * std::pow(1 - done, 0.9), 1e-15);
  }
  EXPECT_EQ(seen, 4) << "every second of 8 steps";
}

}  // namespace
}  // namespace headrace::train
