#include "learn/measure/gate.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "learn/measure/figure_names.hpp"
#include "learn/measure/known_figures.hpp"

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
  const Json kappa = missed.to_json().at("figures").at(1);
  EXPECT_EQ(kappa.at("figure"), "gleason.kappa");
  EXPECT_EQ(kappa.at("group"), "overall");
  EXPECT_EQ(kappa.at("passed"), true);
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
}

TEST(Gate, AnAbsentGroupIsAMissAndNotAMistake) {
  const GateResult missed = Gate::parse("cohorts.c.dice.tumour: 0", "g").check(kFigures);
  EXPECT_FALSE(missed.passed());
  EXPECT_EQ(missed.text(),
            "gate MISSED: cohorts.c.dice.tumour can't be held: this evaluation has no such group, "
            "only b, site.a; at least 0 asked for\n");
  const GateResult none =
      Gate::parse("[{figure: mean_dice, least: 0, scope: each scanner}]", "g").check(kFigures);
  EXPECT_FALSE(none.passed());
  EXPECT_NE(none.text().find("this evaluation has no scanners"), std::string::npos) << none.text();
}

std::string error_of(const char* text, const Json& figures = kFigures) {
  try {
    Gate::parse(text, "g").check(figures);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Gate, AListStatesScopeAndBound) {
  Json figures = kFigures;
  figures["overall"]["interval_95"] = {{"dice", {{"tumour", {0.5, 0.7}}, {"hgpin", nullptr}}}};
  const auto check = [&](const char* text) { return Gate::parse(text, "g").check(figures); };
  EXPECT_TRUE(check("[{figure: dice.tumour, least: 0.5, bound: lower}]").passed());
  EXPECT_FALSE(check("[{figure: dice.tumour, least: 0.55, bound: lower}]").passed());
  EXPECT_TRUE(check("[{figure: dice.tumour, most: 0.7, bound: upper}]").passed());
  // The figure itself is 0.6, above what is asked for: only the interval's end misses.
  EXPECT_TRUE(check("[{figure: dice.tumour, least: 0.55}]").passed());
  const GateResult undefined = check("[{figure: mean_dice, least: 0, bound: lower}]");
  EXPECT_FALSE(undefined.passed());
  EXPECT_NE(undefined.text().find("eval.bootstrap"), std::string::npos) << undefined.text();

  const GateResult each = check("[{figure: mean_dice, least: 0.5, scope: each cohort}]");
  ASSERT_EQ(each.figures.size(), 2u);
  EXPECT_EQ(each.figures[0].name(), "cohorts.b.mean_dice");  // b has no mean_dice: undefined
  EXPECT_FALSE(each.figures[0].passed());
  EXPECT_EQ(each.figures[1].name(), "cohorts.site.a.mean_dice");
  EXPECT_TRUE(each.figures[1].passed());
  EXPECT_TRUE(check("[{figure: mean_dice, least: 0.9, scope: cohorts.site.a}]").passed());
}

TEST(Gate, ItsListIsReadBackAsTheSameGate) {
  const char* text =
      "gates:\n- {figure: dice.tumour, least: 0.1, most: 0.9, scope: each cohort, bound: upper, "
      "worse_than_promoted: 0.02}\n- {figure: mean_dice, least: 0.25}\n";
  const Gate gate = Gate::parse(text, "g");
  EXPECT_EQ(Gate::parse(gate.to_json().dump(), "config.json").to_json(), gate.to_json());
  EXPECT_EQ(gate.to_json().at(0).at("worse_than_promoted"), 0.02);
  EXPECT_EQ(gate.with(Gate::parse("mean_dice: 0.25", "other")).entries().size(), 2u);
  EXPECT_EQ(gate.with(Gate::parse("mean_dice: 0.26", "other")).entries().size(), 3u);
}

TEST(Gate, WrongEntriesAreRefusedWithTheirPlace) {
  EXPECT_NE(error_of("- {figure: mean_dice}").find("g:1: [0]: expected least, most or both"),
            std::string::npos);
  EXPECT_NE(error_of("- {figure: mean_dice, least: 1, scope: each cohrt}").find("'each cohort'"),
            std::string::npos);
  EXPECT_NE(error_of("- {figure: mean_dice, least: 1, bound: lowest}").find("'lower'"),
            std::string::npos);
  EXPECT_NE(error_of("- {figure: mean_dice, least: 2, most: 1}").find("nothing can pass"),
            std::string::npos);
  EXPECT_NE(error_of("- {figur: mean_dice, least: 1}").find("'figure' is required"),
            std::string::npos);
  EXPECT_NE(error_of("- {figure: mean_dice, least: 1, worse_than_promoted: -1}").find("found -1"),
            std::string::npos);
}

/// What the figures' names are before anything is evaluated, with any class (`*`) or these.
TEST(Gate, NamesAreCheckedBeforeAnEvaluation) {
  SlideRules slides;
  slides.classes = {"*", "*"};
  slides.tumour = {false, true};
  slides.gleason = true;
  GroupRules volumes;
  volumes.classes = {"background", "liver", "tumour 1.5"};
  volumes.lesions = true;
  const auto refused = [&](const char* text, bool of_volumes) -> std::string {
    try {
      Gate::parse(text, "run.yaml")
          .check_names(of_volumes ? known_volume_figures(volumes) : known_slide_figures(slides),
                       of_volumes);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused("{dice.any.class: 0, objects.gland.pq: 0, gleason.by_case.kappa: 0, "
                    "cohorts.a.b.mean_dice: 0, tumour.objects.f1: 0}",
                    false),
            "");
  EXPECT_NE(refused("gleason.kapa: 0", false).find("did you mean 'gleason.kappa'"),
            std::string::npos);
  EXPECT_NE(refused("objects.gland.pg: 0", false).find("did you mean 'objects.gland.pq'"),
            std::string::npos);
  EXPECT_NE(refused("lesion.froc: 0", false).find("run.yaml:1: 'lesion.froc' is not a figure"),
            std::string::npos);
  EXPECT_NE(refused("- {figure: mean_dice, least: 0, scope: each phase}", false).find("no phases"),
            std::string::npos);
  EXPECT_EQ(refused("{dice.tumour 1.5: 0, lesion.sensitivity_at_0.125: 0, "
                    "lesion.by_size.6_to_10_mm.sensitivity_at_1: 0, hd95_undefined.liver: 0, "
                    "phases.portal.lesion.froc: 0}",
                    true),
            "");
  EXPECT_NE(refused("dice.livr: 0", true).find("did you mean 'dice.liver'"), std::string::npos);
}

TEST(Gate, SmallerIsBetterForDistancesAndErrors) {
  for (const char* name :
       {"hd95.liver", "hd95_penalised.liver", "calibration.ece", "lesion.voxel.brier",
        "lesion.false_positives_per_scan", "objects.gland.missed", "hd95_undefined.liver"})
    EXPECT_TRUE(smaller_is_better(name)) << name;
  for (const char* name : {"mean_dice", "dice.missed", "lesion.froc", "surface_dice.liver"})
    EXPECT_FALSE(smaller_is_better(name)) << name;
}

TEST(Gate, NoGateAsksForNothing) { EXPECT_TRUE(Gate().check(kFigures).passed()); }

TEST(Gate, UnknownFiguresAreNamedWithTheNearest) {
  try {
    Gate::parse("mean_dic: 0.7", "gate.yaml").check(kFigures);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("gate.yaml:1: 'mean_dic'"), std::string::npos)
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
  EXPECT_EQ(missed.to_json().at("figures").at(0).at("most"), 6);
  EXPECT_THROW(Gate::parse("hd95.lesion: {}", "g"), Error);
  EXPECT_THROW(Gate::parse("hd95.lesion: {mst: 3}", "g"), Error);
}

TEST(Gate, ValuesMustBeNumbers) { EXPECT_THROW(Gate::parse("mean_dice: high", "g"), Error); }

}  // namespace
}  // namespace headrace::measure
