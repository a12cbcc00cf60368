#include "learn/measure/base/roc.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/learn/measure/mask_fixture.hpp"

namespace headrace::measure {
namespace {

using fixtures::Lcg;

struct Prediction {
  std::uint16_t score;
  bool positive;
};

std::vector<Prediction> random_predictions(std::uint64_t seed, std::size_t count,
                                           std::uint32_t scores) {
  Lcg random(seed);
  std::vector<Prediction> out;
  for (std::size_t i = 0; i < count; ++i) {
    const bool positive = random.uniform() < 0.3;
    const std::uint32_t raised = random.next() % scores + (positive ? scores / 4 : 0);
    out.push_back({static_cast<std::uint16_t>(std::min(raised, 65535u)), positive});
  }
  return out;
}

ScoreCounts counts_of(const std::vector<Prediction>& predictions) {
  ScoreCounter counter;
  for (const Prediction& p : predictions) counter.add(p.score, p.positive);
  return counter.counts();
}

TEST(ScoreOf, RoundsAndHoldsTheEnds) {
  EXPECT_EQ(score_of(0), 0);
  EXPECT_EQ(score_of(1), 65535);
  EXPECT_EQ(score_of(1.5f), 65535);
  EXPECT_EQ(score_of(-1), 0);
  EXPECT_EQ(score_of(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(score_of(0.5f), 32768);  // 32767.5, halves away from 0
  EXPECT_EQ(probability_of(65535), 1);
}

TEST(AreaUnderRoc, IsTheShareOfPairsInTheRightOrder) {
  for (const std::uint32_t scores : {5u, 300u, 65536u}) {
    const auto predictions = random_predictions(scores, 400, scores);
    double right = 0, pairs = 0;
    for (const Prediction& p : predictions) {
      for (const Prediction& n : predictions) {
        if (!p.positive || n.positive) continue;
        right += p.score > n.score ? 1 : (p.score == n.score ? 0.5 : 0);
        ++pairs;
      }
    }
    EXPECT_NEAR(area_under_roc(counts_of(predictions)).value(), right / pairs, 1e-14);
  }
}

TEST(AreaUnderRoc, IsUndefinedWithoutPositivesOrNegatives) {
  EXPECT_FALSE(area_under_roc({}));
  EXPECT_FALSE(area_under_roc(counts_of({{7, true}})));
  EXPECT_FALSE(area_under_roc(counts_of({{7, false}})));
  EXPECT_FALSE(sensitivity_at_specificity(counts_of({{7, false}}), 0.9));
}

TEST(SensitivityAtSpecificity, IsTheBestOfAllThresholds) {
  const auto predictions = random_predictions(3, 300, 40);
  for (const double specificity : {0.0, 0.5, 0.9, 0.95, 1.0}) {
    double best = 0;
    for (std::uint32_t threshold = 0; threshold <= 65536; ++threshold) {
      double positives = 0, hits = 0, negatives = 0, silent = 0;
      for (const Prediction& p : predictions) {
        (p.positive ? positives : negatives) += 1;
        if (p.positive) hits += p.score >= threshold ? 1 : 0;
        if (!p.positive) silent += p.score < threshold ? 1 : 0;
      }
      if (silent / negatives >= specificity) best = std::max(best, hits / positives);
      if (threshold == 60) threshold = 65535;  // no score lies between
    }
    EXPECT_EQ(sensitivity_at_specificity(counts_of(predictions), specificity), best) << specificity;
  }
}

TEST(SensitivityAtSpecificity, ByHand) {
  // Nine negatives below, one above half of the positives.
  std::vector<Prediction> all(9, {10, false});
  all.insert(all.end(), {{20, true}, {30, false}, {40, true}});
  EXPECT_EQ(sensitivity_at_specificity(counts_of(all), 0.9), 1);  // 9 of 10 negatives are silent
  EXPECT_EQ(sensitivity_at_specificity(counts_of(all), 0.91), 0.5);
  EXPECT_EQ(sensitivity_at_specificity(counts_of({{5, true}, {5, false}}), 1), 0);
}

TEST(ScoreCounts, AddUpInAnyGroups) {
  const auto predictions = random_predictions(11, 500, 65536);
  const std::vector<Prediction> first(predictions.begin(), predictions.begin() + 123),
      second(predictions.begin() + 123, predictions.end());
  ScoreCounter sum;
  sum.add(counts_of(second));
  sum.add(counts_of(first));
  EXPECT_EQ(sum.counts().rows(), counts_of(predictions).rows());
  sum.clear();
  EXPECT_TRUE(sum.counts().rows().empty());
}

TEST(ScoreCounts, RoundingKeepsOrderCountsAndNearlyTheArea) {
  ScoreCounter every;
  for (std::uint32_t score = 0; score < 65536; ++score)
    every.add(static_cast<std::uint16_t>(score), score % 3 == 0);
  const ScoreCounts rounded = every.counts().rounded();
  // 0…255 as they are, 128 steps for each further bit up to 15; the same from the other end.
  EXPECT_EQ(rounded.rows().size(), 2u * (256 + 7 * 128));
  EXPECT_EQ(rounded.positives(), every.counts().positives());
  EXPECT_EQ(rounded.negatives(), every.counts().negatives());
  const auto counts = counts_of(random_predictions(5, 4000, 50000));
  EXPECT_NEAR(*area_under_roc(counts.rounded()), *area_under_roc(counts), 1e-4);
}

}  // namespace
}  // namespace headrace::measure
