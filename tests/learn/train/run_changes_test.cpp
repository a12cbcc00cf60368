#include "learn/train/run/run_changes.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::train {
namespace {

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

TEST(CheckResumedConfig, HowARunIsJudgedMayChangeWhereItDoesNotDecideTheTraining) {
  const Json stored = {
      {"data", {{"val", "val"}}}, {"eval", {{"overlap", 0.5}}}, {"train", {{"lr", 0.1}}}};
  Json given = stored;
  given["data"]["val"] = "test";
  given["eval"]["overlap"] = 0.25;
  EXPECT_EQ(check_resumed_config(stored, given).size(), 2u);
  for (const auto& [section, key] : {std::pair{"train", "patience"}, {"data", "folds"}}) {
    Json before = stored, after = given;
    before[section][key] = after[section][key] = 5;
    try {
      check_resumed_config(before, after);
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("data.val: the run has"), std::string::npos) << text;
      // Folds do not end by validations.
      EXPECT_EQ(text.find("eval.overlap") == std::string::npos, std::string(key) == "folds")
          << text;
    }
  }
}

/// Intervals change no figure of a validation, so neither the best weights nor where it ends.
TEST(CheckResumedConfig, IntervalsMayAlwaysBeAskedFor) {
  const Json stored = {{"data", {{"val", "val"}}},
                       {"eval", {{"overlap", 0.5}, {"bootstrap", 0}}},
                       {"train", {{"patience", 3}}}};
  Json given = stored;
  given["eval"]["bootstrap"] = 100;
  const auto changes = check_resumed_config(stored, given);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_FALSE(decides_figures(changes.front().key));
  EXPECT_TRUE(decides_figures("eval.overlap") && decides_figures("data.val"));
  EXPECT_FALSE(decides_figures("train.lr"));
}

TEST(JudgingHash, LeavesIntervalsOutAsBuildsOfBeforeDidNot) {
  config::RunConfig config = config::RunConfig::parse(
      "task: segmentation\ndata: {store: s.zarr}\npatch: {size: [64, 64], mpp: 0.5}\n", "run.yaml");
  const Json started = config.to_json();
  const std::string then =
      sha256_hex(dump_json({{"val", started.at("data").at("val")}, {"eval", started.at("eval")}}));
  const std::string hash = judging_hash(config);
  config.eval.bootstrap = 100;
  EXPECT_EQ(judging_hash(config), hash);
  EXPECT_TRUE(judged_alike(hash, config, {}));
  EXPECT_FALSE(judged_alike(then, config, {}));
  EXPECT_TRUE(judged_alike(then, config, {{{"config", started}}}));
  config.tiles.overlap = 0.25;
  EXPECT_NE(judging_hash(config), hash);
  EXPECT_FALSE(judged_alike(hash, config, {{{"config", started}}}));
  EXPECT_FALSE(judged_alike(then, config, {{{"config", started}}}));
}

}  // namespace
}  // namespace headrace::train
