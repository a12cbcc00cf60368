#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "learn/predict/volume/isotonic.hpp"

namespace headrace::predict {
namespace {

using Call = ValidationLesions::Call;

TEST(Isotonic, PoolsWhatFallsAndIsLinearBetween) {
  // Hits 0, 1, 0, 1, 1: the second and third violate the order and share 1/2.
  const std::vector<Call> calls{{0.4, true}, {0.1, false}, {0.3, false}, {0.5, true}, {0.2, true}};
  const IsotonicCurve curve = IsotonicCurve::fit(calls);
  const std::vector<IsotonicCurve::Knot> knots{
      {0.1, 0}, {0.2, 0.5}, {0.3, 0.5}, {0.4, 1}, {0.5, 1}};
  EXPECT_EQ(curve.knots(), knots);
  EXPECT_EQ(curve.at(0.05), 0);
  EXPECT_NEAR(curve.at(0.15), 0.25, 1e-12);
  EXPECT_EQ(curve.at(0.25), 0.5);
  EXPECT_NEAR(curve.at(0.35), 0.75, 1e-12);
  EXPECT_EQ(curve.at(0.9), 1);
  EXPECT_EQ(curve.calls(), 5u);
  EXPECT_EQ(curve.hits(), 3u);
}

TEST(Isotonic, EqualScoresAreOnePlace) {
  const std::vector<Call> calls{{0.3, true}, {0.3, false}, {0.3, false}, {0.3, false}};
  const IsotonicCurve curve = IsotonicCurve::fit(calls);
  EXPECT_EQ(curve.knots().size(), 1u);
  for (const double score : {0.0, 0.3, 1.0}) EXPECT_EQ(curve.at(score), 0.25);
}

TEST(Isotonic, IsThatOfScikitLearn) {
  const std::vector<Call> calls{{0.12, false}, {0.15, false}, {0.15, true},  {0.21, false},
                                {0.30, false}, {0.30, false}, {0.34, true},  {0.41, false},
                                {0.47, true},  {0.52, false}, {0.55, false}, {0.61, true},
                                {0.66, true},  {0.70, false}, {0.74, true},  {0.80, true},
                                {0.83, false}, {0.88, true},  {0.91, true},  {0.97, true}};
  const IsotonicCurve curve = IsotonicCurve::fit(calls);
  // IsotonicRegression(out_of_bounds="clip").fit(score, hit).predict(…) of scikit-learn 1.9.1.
  const std::vector<std::array<double, 2>> expected{{0.0, 0},
                                                    {0.12, 0},
                                                    {0.135, 0.1},
                                                    {0.15, 0.2},
                                                    {0.3, 0.2},
                                                    {0.32, 0.3},
                                                    {0.4, 0.4},
                                                    {0.5, 0.4},
                                                    {0.6, 0.6222222222222221},
                                                    {0.63, 0.6666666666666666},
                                                    {0.68, 0.6666666666666666},
                                                    {0.72, 0.6666666666666666},
                                                    {0.77, 0.6666666666666666},
                                                    {0.85, 0.8},
                                                    {0.9, 1},
                                                    {1.0, 1}};
  for (const auto& [score, probability] : expected)
    EXPECT_NEAR(curve.at(score), probability, 1e-12) << score;
}

TEST(Isotonic, NeverFallsKeepsTheMeanAndNeedsNoOrder) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Call> calls;
    for (int i = 0; i < 60; ++i) {
      const double score = static_cast<double>(random() % 40) / 40;
      calls.push_back({score, random() % 40 < 40 * score});
    }
    const IsotonicCurve curve = IsotonicCurve::fit(calls);
    double before = 0, sum = 0;
    for (int i = 0; i <= 200; ++i) {
      const double at = curve.at(i / 200.0);
      EXPECT_LE(before, at);
      EXPECT_LE(at, 1);
      before = at;
    }
    // Pooling keeps the sum of hits.
    for (const Call& call : calls) sum += curve.at(call.score);
    EXPECT_NEAR(sum, static_cast<double>(curve.hits()), 1e-9);
    std::shuffle(calls.begin(), calls.end(), random);
    EXPECT_EQ(IsotonicCurve::fit(calls).knots(), curve.knots());
  }
}

TEST(Isotonic, TooFewCallsSayWhyThereIsNone) {
  ValidationLesions validation;
  validation.calls.assign(19, {0.5, true});
  const auto few = calibration_of_calls(validation);
  EXPECT_FALSE(few.value);
  EXPECT_EQ(few.reason, "The run's validation has 19 calls; calibration takes at least 20.");
  validation.calls.push_back({0.6, false});
  const auto enough = calibration_of_calls(validation);
  ASSERT_TRUE(enough.value);
  EXPECT_EQ(enough.reason, "");
  EXPECT_EQ(enough.value->to_json().at("calls"), 20);
  EXPECT_EQ(enough.value->to_json().at("hits"), 19);
}

}  // namespace
}  // namespace headrace::predict
