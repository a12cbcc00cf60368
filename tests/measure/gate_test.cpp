#include "headrace/measure/gate.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::measure {
namespace {

const Json kFigures = {
    {"overall",
     {{"mean_dice", 0.71},
      {"dice", {{"tumour", 0.6}, {"hgpin", nullptr}}},
      {"gleason", {{"kappa", 0.55}}}}},
    {"cohorts", {{"site.a", {{"mean_dice", 0.9}}}, {"b", {{"dice", {{"tumour", nullptr}}}}}}},
    {"phases", {{"portal-venous", {{"lesion", {{"froc", 0.4}}}}}}}};

TEST(Gate, PassesAtTheLimitAndMissesBelow) {
  EXPECT_TRUE(Gate::parse("{mean_dice: 0.71, dice.tumour: 0.5, gleason.kappa: 0.5}", "g")
                  .check(kFigures)
                  .passed());
  const GateResult missed =
      Gate::parse("{mean_dice: 0.72, gleason.kappa: 0.5}", "g").check(kFigures);
  EXPECT_FALSE(missed.passed());
  EXPECT_NE(missed.text().find("MISSED: mean_dice 0.7100, at least 0.72"), std::string::npos)
      << missed.text();
  EXPECT_EQ(missed.to_json().at("figures").at("gleason.kappa").at("passed"), true);
}

TEST(Gate, AnUndefinedFigureDoesNotPass) {
  const GateResult missed = Gate::parse("dice.hgpin: 0", "g").check(kFigures);
  EXPECT_FALSE(missed.passed());
  EXPECT_EQ(missed.text(),
            "gate MISSED: dice.hgpin is undefined on this split; at least 0 "
            "asked for\n");
}

TEST(Gate, FiguresOfGroupsAreNamedAfterTheGroup) {
  const auto check = [](const char* text) { return Gate::parse(text, "g").check(kFigures); };
  EXPECT_TRUE(
      check("{cohorts.site.a.mean_dice: 0.9, phases.portal-venous.lesion.froc: 0.4}").passed());
  EXPECT_FALSE(check("cohorts.site.a.mean_dice: 0.95").passed());
  EXPECT_FALSE(check("cohorts.b.dice.tumour: 0").passed());
  try {
    check("cohorts.c.dice.tumour: 0");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'cohorts.b.dice.tumour'"),
              std::string::npos)
        << error.what();
  }
}

TEST(Gate, NoGateAsksForNothing) { EXPECT_TRUE(Gate().check(kFigures).passed()); }

TEST(Gate, UnknownFiguresAreNamedWithTheNearest) {
  try {
    Gate::parse("mean_dic: 0.7", "gate.yaml").check(kFigures);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("gate.yaml: 'mean_dic'"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("did you mean 'mean_dice'"), std::string::npos)
        << error.what();
  }
}

TEST(Gate, BoundsFromBothSides) {
  const Json figures = {{"overall", {{"hd95", {{"lesion", 6.5}}}}}};
  EXPECT_TRUE(Gate::parse("hd95.lesion: {most: 6.5}", "g").check(figures).passed());
  const GateResult missed = Gate::parse("hd95.lesion: {most: 6, least: 1}", "g").check(figures);
  EXPECT_FALSE(missed.passed());
  EXPECT_NE(missed.text().find("MISSED: hd95.lesion 6.5000, at least 1 and at most 6"),
            std::string::npos)
      << missed.text();
  EXPECT_EQ(missed.to_json().at("figures").at("hd95.lesion").at("most"), 6);
  EXPECT_THROW(Gate::parse("hd95.lesion: {}", "g"), Error);
  EXPECT_THROW(Gate::parse("hd95.lesion: {mst: 3}", "g"), Error);
}

TEST(Gate, ValuesMustBeNumbers) { EXPECT_THROW(Gate::parse("mean_dice: high", "g"), Error); }

}  // namespace
}  // namespace headrace::measure
