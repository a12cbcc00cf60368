#include "learn/train/evaluate/evaluation_figures.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::train {
namespace {

Json slides() {
  return parse_json(R"({
    "split": "val", "dataset_hash": "d", "classes": ["glass", "tumour"],
    "unknown_classes": ["stroma"], "missing_classes": [], "unknown_scanners": ["x"],
    "overall": {"images": 3, "mean_dice": 0.5, "dice": {"glass": null, "tumour": 0.5},
                "detection": {"slides": {"auc": 0.75}}, "gleason": {"kappa": 0.25}},
    "cohorts": {"a": {"images": 1, "mean_dice": null, "dice": {"tumour": null}}},
    "scanners": {}})",
                    "eval.json");
}

TEST(EvaluationFigures, HasTheMainFiguresOfEveryGroup) {
  const EvaluationFigures figures(slides());
  EXPECT_EQ(figures.split, "val");
  EXPECT_EQ(figures.classes, (std::vector<std::string>{"glass", "tumour"}));
  EXPECT_EQ(figures.overall.images, 3);
  EXPECT_EQ(figures.overall.dice.at("glass"), std::nullopt);
  EXPECT_EQ(figures.overall.dice.at("tumour"), 0.5);
  EXPECT_EQ(figures.overall.detection_auc, 0.75);
  EXPECT_EQ(figures.overall.kappa, 0.25);
  EXPECT_EQ(figures.overall.froc, std::nullopt);
  EXPECT_EQ(figures.cohorts.at("a").mean_dice, std::nullopt);
  EXPECT_TRUE(figures.scanners.empty());
  EXPECT_TRUE(figures.phases.empty());
  EXPECT_EQ(figures.unknown_classes, std::vector<std::string>{"stroma"});
  EXPECT_EQ(figures.json, slides());
}

TEST(EvaluationFigures, HasThoseOfLesionsAndPhases) {
  Json json = slides();
  json["overall"].erase("gleason");
  json["overall"]["lesion"] = {{"froc", 0.5}, {"sensitivity_at_1", nullptr}};
  json["phases"]["native"] = json["overall"];
  const EvaluationFigures figures(json);
  EXPECT_EQ(figures.overall.kappa, std::nullopt);
  EXPECT_EQ(figures.phases.at("native").froc, 0.5);
  EXPECT_EQ(figures.phases.at("native").sensitivity_at_1, std::nullopt);
}

TEST(EvaluationFigures, RefusesADocumentThatLacksAKey) {
  Json json = slides();
  json.erase("overall");
  try {
    EvaluationFigures{json};
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed);
    EXPECT_NE(std::string(error.what()).find("overall"), std::string::npos);
  }
}

}  // namespace
}  // namespace headrace::train
