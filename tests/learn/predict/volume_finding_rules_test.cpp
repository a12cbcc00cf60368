#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "learn/predict/volume/finding_rules.hpp"

namespace headrace::predict {
namespace {

const std::vector<std::string> kClasses{"background", "colon", "cancer", "polyp"};

config::RunConfig colorectal() {
  config::RunConfig config;
  config.task = loader::Task::lesions;
  config.eval.lesion_classes = {"polyp", "cancer"};
  config.eval.lesion_lowest = 0.2;
  config.eval.lesion_min_mm3 = 30;
  return config;
}

/// 20 calls of one annotated scan; those from 0.5 on are hits.
Json evaluation() {
  Json calls = Json::array(), lesions = Json::array(), curve = Json::array();
  for (int i = 20; i > 0; --i) {
    calls.push_back({{"score", i * 0.05}, {"hit", i >= 10}});
    if (i >= 10) lesions.push_back(Json::object());
  }
  curve.push_back({0.0, 1.0, 0.5});
  return {{"images", {{{"voxels", 9}, {"set_voxels", 0}, {"lesions", lesions}, {"calls", calls}}}},
          {"overall", {{"lesion", {{"lesions", 11}, {"curve", curve}}}}}};
}

TEST(FindingRules, TakeTheRunsKeysAndItsValidation) {
  const FindingRules rules =
      finding_rules(kClasses, colorectal(), OrReason<Json>::of(evaluation()), "eval.json");
  EXPECT_EQ(rules.lesion_classes, (std::vector<std::uint8_t>{2, 3}));
  EXPECT_EQ(rules.lesion_lowest, 0.2);
  EXPECT_EQ(rules.lesion_min_mm3, 30);
  ASSERT_TRUE(rules.operating_point.value);
  EXPECT_EQ(rules.operating_point.value->threshold, 0.5);
  ASSERT_TRUE(rules.calibration.value);
  EXPECT_EQ(rules.calibration.value->at(0.3), 0);
  EXPECT_EQ(rules.calibration.value->at(0.8), 1);
}

TEST(FindingRules, PassOnWhyThereIsNoEvaluation) {
  const FindingRules rules = finding_rules(
      kClasses, colorectal(), OrReason<Json>::none("The run has no evaluation."), "eval.json");
  EXPECT_EQ(rules.operating_point.reason, "The run has no evaluation.");
  EXPECT_EQ(rules.calibration.reason, "The run has no evaluation.");
}

TEST(FindingRules, OfOtherTasksSearchForNothing) {
  config::RunConfig config = colorectal();
  config.task = loader::Task::segmentation;
  const FindingRules rules =
      finding_rules(kClasses, config, OrReason<Json>::of(Json::object()), "eval.json");
  EXPECT_TRUE(rules.lesion_classes.empty());
  EXPECT_FALSE(rules.operating_point.value);
}

}  // namespace
}  // namespace headrace::predict
