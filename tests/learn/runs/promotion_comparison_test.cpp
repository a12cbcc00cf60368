#include "learn/runs/promotion_comparison.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "learn/measure/volume/volume_metrics.hpp"
#include "learn/runs/evaluation_check.hpp"
#include "learn/runs/trained_cases.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::runs {
namespace {

constexpr std::uint32_t kCases = 20;

/// Volumes of 100 voxels, half of which are liver; of these `hit` are found, by case. In cohort "b"
/// are the last ten cases.
Json evaluation_of(const std::function<std::uint64_t(std::uint32_t)>& hit,
                   const std::function<std::optional<double>(std::uint32_t)>& hd95) {
  measure::VolumeRules rules;
  measure::GroupRules groups;
  groups.classes = {"background", "liver"};
  measure::VolumeMetrics metrics(rules, groups, 0, 0);
  for (std::uint32_t i = 0; i < kCases; ++i) {
    measure::VolumeFacts facts;
    facts.id = facts.case_id = "case-" + std::to_string(i);
    facts.cohort = i < 10 ? "a" : "b";
    facts.scanner = "s";
    measure::VolumeFigures figures(2);
    figures.confusion.add(0, 0, 50);
    figures.confusion.add(1, 1, hit(i));
    figures.confusion.add(1, 0, 50 - hit(i));
    figures.surface_dice[1] = 1;
    figures.hd95_mm[1] = hd95(i);
    figures.hd95_penalised_mm[1] = hd95(i).value_or(100);
    metrics.add(i, facts, figures);
  }
  Json out = metrics.to_json(false);
  out["dataset_hash"] = "d";
  out["split"] = "val";
  out["weights_sha256"] = "w";
  return out;
}

const Json kConfig = {
    {"task", "segmentation"},
    {"data", {{"labels", "annotation"}, {"outside", "background"}, {"train", "train"}}},
    {"eval", {{"surface_tolerance_mm", 2}, {"batch", 2}}}};

PromotionComparison compare(const Json& before, const Json& after, const std::string& gates,
                            const std::map<std::string, double>& margins = {},
                            const Json& gate_file = {}, const Json& config = kConfig) {
  const fixtures::TemporaryFolder folder;
  RunFolder promoted = RunFolder::create(folder.path("promoted"));
  promoted.write_json("config.json", config);
  promoted.write_json("eval.json", before);
  promoted.write_json("run.json", {{"dataset_hash", "d"}});
  if (!gate_file.is_null()) promoted.write_json("gate.json", gate_file);
  PromotionCandidate candidate;
  candidate.config = kConfig;
  candidate.run = {{"dataset_hash", "d"}, {"store", "/ct.zarr"}};
  candidate.evaluation = {after, "eval.json"};
  return compare_with_promoted(candidate, promoted, {{"model", "m"}, {"weights_sha256", "w"}},
                               measure::Gate::parse(gates, "gates"), margins);
}

/// Dice of a volume of which `hit` of 50 voxels are found and nothing is invented.
double dice(double hit) { return 2 * hit / (hit + 50); }

const auto kNear = [](std::uint32_t) { return std::optional(5.0); };
const auto kForty = [](std::uint32_t) { return std::uint64_t{40}; };

TEST(PromotionComparison, TheSameIsNotWorse) {
  const Json one = evaluation_of(kForty, kNear);
  const auto result = compare(one, one, "{mean_dice: 0.1, hd95.liver: {most: 20}}");
  EXPECT_TRUE(result.passed());
  ASSERT_EQ(result.checks.size(), 6u);  // two figures; over all and in two cohorts
  for (const WorseCheck& check : result.checks) {
    EXPECT_EQ(check.worse_by, 0.0);
    EXPECT_EQ(check.margin, check.figure.figure == "hd95.liver" ? 1 : 0.02);
    EXPECT_TRUE(check.figure.interval) << check.group;
  }
}

TEST(PromotionComparison, TheWorseEndOfTheIntervalIsHeld) {
  // One case of twenty loses, the others gain: better on average, but a draw may take the loser often.
  const Json before = evaluation_of(kForty, kNear);
  const Json after =
      evaluation_of([](std::uint32_t i) { return std::uint64_t{i == 0 ? 20u : 42u}; }, kNear);
  const auto result = compare(before, after, "mean_dice: 0.1");
  const WorseCheck& overall = result.checks.front();
  EXPECT_EQ(overall.group, "overall");
  const double gain = dice(42) - dice(40), loss = dice(40) - dice(20);
  EXPECT_NEAR(*overall.figure.difference, (19 * gain - loss) / 20, 1e-12);
  EXPECT_GT(*overall.figure.difference, 0);
  EXPECT_GT(*overall.worse_by, 0.0);
  // Of every draw the mean has the form (k · loss - (20 - k) · gain) / 20: so has a quantile here.
  const double k = (*overall.worse_by * 20 + 20 * gain) / (loss + gain);
  EXPECT_NEAR(k, 3, 1e-9);  // P(k > 3) = 1.6 %, P(k > 2) = 7.5 % of draws: binomial, 20 of 1/20
  EXPECT_EQ(overall.passed(), *overall.worse_by <= 0.02);
  EXPECT_TRUE(compare(before, after, "mean_dice: 0.1", {{"mean_dice", 1}}).passed());
  EXPECT_FALSE(compare(before, after, "mean_dice: 0.1", {{"mean_dice", 0}}).passed());
}

TEST(PromotionComparison, DistancesAreBetterWhenSmall) {
  const Json before = evaluation_of(kForty, kNear);
  const auto with = [&](double mm) {
    return compare(before, evaluation_of(kForty, [mm](std::uint32_t) { return std::optional(mm); }),
                   "hd95.liver: {most: 20}");
  };
  EXPECT_TRUE(with(2.0).passed());
  EXPECT_TRUE(with(5.9).passed());
  EXPECT_FALSE(with(6.1).passed());
  EXPECT_NEAR(*with(6.1).checks.front().worse_by, 1.1, 1e-12);
  EXPECT_NE(with(6.1).text().find("WORSE: hd95.liver 5.0000 -> 6.1000"), std::string::npos);
}

TEST(PromotionComparison, WhatIsNoLongerDefinedIsWorse) {
  const Json before = evaluation_of(kForty, kNear);
  const Json after = evaluation_of(
      kForty, [](std::uint32_t i) { return i < 4 ? std::optional(5.0) : std::nullopt; });
  const auto result = compare(before, after, "hd95.liver: {most: 20}");
  EXPECT_TRUE(result.checks[0].passed());
  EXPECT_EQ(result.checks[2].group, "cohorts.b");
  EXPECT_FALSE(result.checks[2].passed());
  EXPECT_TRUE(compare(after, before, "hd95.liver: {most: 20}").passed());
  EXPECT_TRUE(compare(after, after, "hd95.liver: {most: 20}").passed());  // undefined in both
}

TEST(PromotionComparison, OfSeveralMarginsTheStrictestHolds) {
  const Json one = evaluation_of(kForty, kNear);
  const char* gates =
      "[{figure: mean_dice, least: 0, worse_than_promoted: 0.3}, {figure: mean_dice, least: 0, "
      "scope: each cohort, worse_than_promoted: 0.1}]";
  const auto margins = [&](const std::string& of, const std::map<std::string, double>& given = {}) {
    std::vector<double> out;
    for (const WorseCheck& check : compare(one, one, of, given).checks) out.push_back(check.margin);
    return out;
  };
  // Over all images, then cohorts a and b: each has the margin that is stated for it.
  EXPECT_EQ(margins(gates), (std::vector<double>{0.3, 0.1, 0.1}));
  EXPECT_EQ(margins(gates, {{"mean_dice", 0.2}}), (std::vector<double>{0.2, 0.2, 0.2}));
  EXPECT_EQ(margins("[{figure: mean_dice, least: 0, worse_than_promoted: 0.3}, {figure: mean_dice, "
                    "least: 0.1, worse_than_promoted: 0.2}]"),
            (std::vector<double>{0.2, 0.2, 0.2}));
  // What is allowed to one cohort is not to the others.
  EXPECT_EQ(margins("[{figure: mean_dice, least: 0, scope: cohorts.b, worse_than_promoted: 0.5}, "
                    "{figure: mean_dice, least: 0}]"),
            (std::vector<double>{0.02, 0.02, 0.5}));
}

TEST(PromotionComparison, AGateOfAScannerIsComparedThere) {
  const Json one = evaluation_of(kForty, kNear);
  const auto result = compare(one, one, "[{figure: mean_dice, least: 0, scope: each scanner}]");
  ASSERT_EQ(result.checks.size(), 4u);
  EXPECT_EQ(result.checks.back().group, "scanners.s");
}

TEST(PromotionComparison, WhatThePromotedOneHadToReachIsCompared) {
  // The new run asks for little: its gate says nothing of the distance, which got worse.
  const Json before = evaluation_of(kForty, kNear);
  const Json after = evaluation_of(kForty, [](std::uint32_t) { return std::optional(50.0); });
  EXPECT_TRUE(compare(before, after, "mean_dice: 0").passed());
  const auto passed = [](const char* gates) {
    const Json one = evaluation_of(kForty, kNear);
    return measure::Gate::parse(gates, "gates").check(one).to_json();
  };
  EXPECT_FALSE(
      compare(before, after, "mean_dice: 0", {}, passed("hd95.liver: {most: 20}")).passed());
  // Its scanners were held, and by a margin of their own: they are compared now, by that.
  const auto result = compare(before, before,
                              "[{figure: mean_dice, least: 0, worse_than_promoted: 0.2}, {figure: "
                              "mean_dice, least: 0, scope: cohorts.b, worse_than_promoted: 0.001}]",
                              {},
                              passed("[{figure: mean_dice, least: 0, scope: each scanner, "
                                     "worse_than_promoted: 0.05}, {figure: mean_dice, least: 0, "
                                     "scope: cohorts.b, worse_than_promoted: 0.01}, {figure: "
                                     "mean_dice, least: 0, worse_than_promoted: 0.1}]"));
  std::map<std::string, double> margins;
  for (const WorseCheck& check : result.checks) margins[check.group] = check.margin;
  EXPECT_EQ(margins,
            (std::map<std::string, double>{
                {"overall", 0.1}, {"cohorts.a", 0.1}, {"cohorts.b", 0.001}, {"scanners.s", 0.05}}));
}

TEST(PromotionComparison, TheBarIsWhatItsImagesMake) {
  const Json one = evaluation_of(kForty, kNear);
  const auto refusal = [&](const Json& bar, const char* gates) -> std::string {
    try {
      compare(bar, one, gates);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      return error.what();
    }
  };
  Json lower = one;
  lower["overall"]["mean_dice"] = 0.1;
  EXPECT_NE(refusal(lower, "mean_dice: 0").find("mean_dice of overall is 0.100000 there"),
            std::string::npos);
  // Of an evaluation without a digest nothing but its images holds the figures of scanners.
  lower = one;
  lower["scanners"]["s"]["mean_dice"] = 0.1;
  EXPECT_NE(refusal(lower, "[{figure: mean_dice, least: 0, scope: each scanner}]")
                .find("mean_dice of scanners.s is not what its images make"),
            std::string::npos);
  lower = one;
  put_digest(lower);
  EXPECT_EQ(refusal(lower, "mean_dice: 0"), "");
  lower["overall"]["calibration"] = Json::object();
  EXPECT_NE(refusal(lower, "mean_dice: 0").find("digest"), std::string::npos);
}

TEST(TrainedCases, AreCountedByTheRunsRecord) {
  const Json evaluation = {{"dataset_hash", "later"},
                           {"split", "val"},
                           {"images", {{{"case", "a"}}, {{"case", "b"}}, {{"case", "b"}}}}};
  const Json config = {{"data", {{"train", "train"}}}};
  Json run = {{"dataset_hash", "d"}, {kTrainedCases, case_digests({"b", "c"})}};
  // By `printf b | sha256sum`.
  EXPECT_EQ(run[kTrainedCases][1], "3e23e8160039594a");
  EXPECT_EQ(count_seen(evaluation, run, config), 1u);
  EXPECT_THROW(check_unseen({evaluation, "eval.json"}, run, config), Error);
  run[kTrainedCases] = case_digests({"c"});
  EXPECT_EQ(count_seen(evaluation, run, config), 0u);
  check_unseen({evaluation, "eval.json"}, run, config);
  // Weights that it began with had seen others, and what they began with.
  run["init"] = {{"file", "/w"}, {kTrainedCases, case_digests({"a"})}};
  EXPECT_EQ(count_seen(evaluation, run, config), 1u);
  EXPECT_EQ(seen_cases(run).size(), 2u);
  run["init"][kTrainedCases] = nullptr;
  EXPECT_EQ(count_seen(evaluation, run, config), 0u);
  EXPECT_TRUE(begins_unknown(run));
}

TEST(TrainedCases, OfEarlierRunsAreKnownInPart) {
  Json evaluation = {
      {"dataset_hash", "later"}, {"split", "val"}, {"images", {{{"case", "a"}}, {{"case", "b"}}}}};
  const Json config = {{"data", {{"train", "train"}}}}, run = {{"dataset_hash", "d"}};
  EXPECT_EQ(count_seen(evaluation, run, config), std::nullopt);
  EXPECT_THROW(check_unseen({evaluation, "eval.json"}, run, config), Error);
  evaluation[kTrainedCases] = 1u;  // as headrace eval found where the store was
  EXPECT_EQ(count_seen(evaluation, run, config), 1u);
  evaluation.erase(kTrainedCases);
  evaluation["dataset_hash"] = "d";
  EXPECT_EQ(count_seen(evaluation, run, config), 0u);
  evaluation["split"] = "train";
  EXPECT_EQ(count_seen(evaluation, run, config), 2u);
}

TEST(PromotionComparison, TheBarIsNoCasesThatWereTrainedOn) {
  Json one = evaluation_of(kForty, kNear);
  one[kTrainedCases] = 2u;
  EXPECT_THROW(compare(one, one, "mean_dice: 0"), Error);
}

TEST(PromotionComparison, OtherClassesOrRulesAreNotCompared) {
  const Json one = evaluation_of(kForty, kNear);
  Json classes = one;
  classes["classes"] = {"background", "spleen"};
  Json rules = kConfig, tiles = kConfig;
  rules["eval"]["surface_tolerance_mm"] = 3;
  tiles["eval"]["batch"] = 8;
  const auto refusal = [&](const Json& before, const Json& config) -> std::string {
    try {
      compare(before, one, "mean_dice: 0.1", {}, {}, config);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
  };
  EXPECT_NE(refusal(classes, kConfig).find("\"spleen\""), std::string::npos);
  EXPECT_NE(refusal(one, rules).find("eval.surface_tolerance_mm 3 and 2"), std::string::npos);
  EXPECT_EQ(refusal(one, tiles), "");
}

TEST(PromotionComparison, GatesOfCasesAloneCompareNothing) {
  Json one = evaluation_of(kForty, kNear);
  for (auto& [id, figures] : one["cases"].items()) figures["only_here"] = 1;
  EXPECT_THROW(compare(one, one, "[{figure: only_here, least: 0, scope: each case}]"), Error);
}

TEST(CheckFigures, FiguresAreThoseOfTheImages) {
  const Json one = evaluation_of(kForty, kNear);
  check_figures({one, "eval.json"});
  const auto refusal = [](const Json& changed) -> std::string {
    try {
      check_figures({changed, "eval.json"});
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      return error.what();
    }
  };
  Json better = one;
  better["overall"]["mean_dice"] = 0.99;
  EXPECT_NE(refusal(better).find("mean_dice of overall is 0.990000 there"), std::string::npos);
  better = one;
  better["cohorts"]["b"]["hd95"]["liver"] = nullptr;
  EXPECT_NE(refusal(better).find("hd95.liver of cohorts.b is undefined there"), std::string::npos);
  better = one;
  better["images"].erase(0);
  EXPECT_NE(refusal(better).find("overall has 20 images there, but 19 are listed"),
            std::string::npos);
}

TEST(PromotionComparison, OtherImagesAreNotCompared) {
  const Json one = evaluation_of(kForty, kNear);
  Json fold = one;
  for (Json& image : fold["images"]) image["id"] = "other-" + image["id"].get<std::string>();
  Json split = one;
  split["split"] = "test";
  for (const Json& other : {fold, split}) {
    try {
      compare(other, one, "mean_dice: 0.1");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find("was not evaluated on the images"),
                std::string::npos);
      EXPECT_NE(std::string(error.what()).find("/ct.zarr"), std::string::npos) << error.what();
    }
  }
}

TEST(DefaultMargin, GoesByTheFiguresUnit) {
  EXPECT_EQ(default_margin("dice.tumour", false), 0.02);
  EXPECT_EQ(default_margin("hd95_penalised.liver", false), 1);
  EXPECT_EQ(default_margin("lesion.false_positives_per_scan", false), 0.25);
  EXPECT_EQ(default_margin("hd95_undefined.liver", true), 0);
}

}  // namespace
}  // namespace headrace::runs
