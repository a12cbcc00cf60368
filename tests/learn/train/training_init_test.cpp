// Trainings that begin with the weights of another.
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/inference/network.hpp"
#include "learn/model/safetensors.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/trainer.hpp"
#include "tests/learn/train/training_fixture.hpp"

namespace headrace::train {
namespace {

namespace fs = std::filesystem;
using fixtures::file_text;

std::map<std::string, at::Tensor> tensors_of(const std::string& bytes) {
  std::map<std::string, at::Tensor> out;
  for (const auto& entry : model::parse_safetensors(std::as_bytes(std::span(bytes)), "w").tensors) {
    out[entry.name] = entry.tensor;
  }
  return out;
}

/// A first round on background, benign, pattern3; a second on background, pattern3, tumour that
/// trains `fuse` alone, so that all else is what it began with.
class TrainingInit : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    fixture_ = std::make_unique<fixtures::TrainingFixture>();
    fixtures::StoreSpec spec;
    spec.height = 300;
    spec.width = 340;
    spec.levels = 2;
    spec.classes = {"background", "pattern3", "tumour"};
    fixtures::write_store(path("second.zarr"), spec);
    train(fixture_->config(), {path("first"), false, "test"});
    train(second(), options("whole", path("first")));
  }
  static void TearDownTestSuite() { fixture_.reset(); }

  static std::string path(const std::string& name) { return fixture_->path(name); }
  static TrainOptions options(const std::string& run, const std::string& init,
                              bool resume = false) {
    TrainOptions out{path(run), resume, "test"};
    out.init = init;
    return out;
  }
  static config::RunConfig second() {
    auto config = fixture_->config();
    config.data.store = path("second.zarr");
    config.sampling.seed = 6;
    config.train.epochs = 1;
    config.train.freeze = {"encoder", "context", "decoder", "head"};
    return config;
  }
  static std::string weights_hash(const std::string& run) {
    return sha256_hex(file_text(path(run) + "/final.safetensors"));
  }
  static Json begun(const std::string& run) {
    return runs::RunFolder::open(path(run)).read_json("run.json").at("init");
  }
  static std::string refusal(const TrainOptions& options) {
    try {
      train(second(), options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
  /// What a kill before the first checkpoint leaves of `whole`.
  static void cut(const std::string& run) {
    fs::create_directories(path(run));
    for (const char* name : {"run.json", "config.json", "preprocessing.json"}) {
      if (fs::exists(path("whole") + "/" + name)) {
        fs::copy(path("whole") + "/" + name, path(run) + "/" + name);
      }
    }
  }

  static std::unique_ptr<fixtures::TrainingFixture> fixture_;
};
std::unique_ptr<fixtures::TrainingFixture> TrainingInit::fixture_;

TEST_F(TrainingInit, BodyByNameAndHeadByClass) {
  const auto first = tensors_of(file_text(path("first") + "/final.safetensors"));
  const auto final = tensors_of(file_text(path("whole") + "/final.safetensors"));
  const auto fresh = tensors_of(inference::Network(second(), 3).weights({}));
  ASSERT_EQ(final.size(), first.size());
  int taken = 0;
  for (const auto& [name, tensor] : final) {
    if (name.starts_with("model.fuse")) {
      EXPECT_FALSE(tensor.equal(first.at(name))) << name;  // trained
    } else if (name.starts_with("model.head")) {
      EXPECT_TRUE(tensor[0].equal(first.at(name)[0])) << name;
      EXPECT_TRUE(tensor[1].equal(first.at(name)[2])) << name;  // pattern3
      EXPECT_TRUE(tensor[2].equal(fresh.at(name)[2])) << name;  // tumour
    } else {
      EXPECT_TRUE(tensor.equal(first.at(name))) << name;
      ++taken;
    }
  }
  EXPECT_GT(taken, 20);
  const Json init = begun("whole");
  EXPECT_EQ(init.at("sha256"), weights_hash("first"));
  EXPECT_EQ(init.at("weights_sha256"),
            runs::RunFolder::open(path("first")).read_json("summary.json").at("weights_sha256"));
  EXPECT_EQ(init.at("classes_taken"), Json({"background", "pattern3"}));
  EXPECT_EQ(init.at("classes_fresh"), Json({"tumour"}));
  EXPECT_TRUE(init.at("tensors_fresh").empty());
  EXPECT_TRUE(begun("first").is_null());
}

TEST_F(TrainingInit, AFileIsAsGoodAsItsRun) {
  train(second(), options("file", path("first") + "/final.safetensors"));
  EXPECT_EQ(weights_hash("file"), weights_hash("whole"));
}

TEST_F(TrainingInit, ResumedIsTheUnbrokenRunWithAndWithoutCheckpoint) {
  fs::copy(path("whole"), path("killed"), fs::copy_options::recursive);
  fs::remove(path("killed") + "/final.safetensors");
  fs::remove(path("killed") + "/checkpoints/step-00000004.safetensors");
  train(second(), options("killed", "", true));
  EXPECT_EQ(weights_hash("killed"), weights_hash("whole"));
  cut("early");
  train(second(), options("early", "", true));
  EXPECT_EQ(weights_hash("early"), weights_hash("whole"));
  cut("same-command");
  train(second(), options("same-command", path("first"), true));
  EXPECT_EQ(weights_hash("same-command"), weights_hash("whole"));
  EXPECT_EQ(begun("same-command"), begun("whole"));
}

TEST_F(TrainingInit, WhatDoesNotFitIsRefusedInOneSentence) {
  EXPECT_NE(refusal(options("x", path("nothing"))).find("is neither a run folder nor a weights"),
            std::string::npos);
  cut("unfinished");
  EXPECT_NE(refusal(options("x", path("unfinished"))).find("has not come to its end"),
            std::string::npos);
  EXPECT_NE(refusal(options("whole", path("whole"), true)).find("Give init the ones of the start"),
            std::string::npos);
  auto config = fixture_->config();
  try {
    train(config, options("first", path("whole"), true));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did not begin with other weights"),
              std::string::npos);
  }
  EXPECT_FALSE(fs::exists(path("x")));
}

}  // namespace
}  // namespace headrace::train
