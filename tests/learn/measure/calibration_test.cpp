#include "learn/measure/base/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/learn/measure/mask_fixture.hpp"

namespace headrace::measure {
namespace {

TEST(Calibration, OfYesOrNoByHand) {
  Calibration counts;
  counts.add(65535, true, 3);   // sure and right
  counts.add(65535, false);     // sure and wrong: squared error 1
  counts.add(13107, false, 4);  // 0.2: 0.04 each
  // Bin 15: 4 of score 1, 3 right. Bin 3, (2/15, 3/15]: 4 of 0.2, none right.
  EXPECT_NEAR(counts.expected_error().value(), (4 * 0.25 + 4 * 0.2) / 8, 1e-12);
  EXPECT_NEAR(counts.brier().value(), (1 + 4 * 0.04) / 8, 1e-7);
  EXPECT_EQ(counts.bins()[14].count, 4u);
  EXPECT_EQ(counts.bins()[2].count, 4u);
}

TEST(Calibration, BinsEndAtTheirUpperEdge) {
  Calibration counts;
  counts.add(0, false);
  counts.add(4369, false);
  counts.add(4370, false);
  EXPECT_EQ(counts.bins()[0].count, 2u);
  EXPECT_EQ(counts.bins()[1].count, 1u);
}

TEST(Calibration, OfClassesTakesTheMostProbable) {
  const float p[] = {0.2f, 0.2f, 0.6f,
                     0.5f, 0.5f, 1.0f};  // (classes, 2 pixels); second sums to 1.7
  Calibration counts;
  counts.add_classes(p, 2, 3, 0b001);      // 0.2, 0.6, 0.5 of 1.3; class 0 is true
  counts.add_classes(p + 1, 2, 3, 0b100);  // 0.2, 0.5, 1 of 1.7; right
  const double a = 0.2 / 1.3, b = 0.6 / 1.3, c = 0.5 / 1.3;
  const double d = 0.2 / 1.7, e = 0.5 / 1.7, f = 1 / 1.7;
  const double squares = (a - 1) * (a - 1) + b * b + c * c + d * d + e * e + (f - 1) * (f - 1);
  EXPECT_NEAR(counts.brier().value(), squares / 2, 1e-6);
  // 0.4615 lies in bin 6 (0.4 to 0.4667), 0.588 in bin 8.
  EXPECT_NEAR(counts.expected_error().value(), (b + (1 - f)) / 2, 1e-5);
}

TEST(Calibration, ClassesThatAreTrueTogetherCountAsOne) {
  const float p[] = {0.1f, 0.3f, 0.6f};
  Calibration counts;
  counts.add_classes(p, 1, 3, 0b110);
  EXPECT_NEAR(counts.brier().value(), 0.01 + 0.01, 1e-6);
  EXPECT_EQ(counts.bins()[8].positive, 1u);
}

TEST(Calibration, SumsInAnyGroupsAndEqualsThatOfItsCounts) {
  fixtures::Lcg random(4);
  ScoreCounter counter;
  Calibration whole, first, second;
  for (int i = 0; i < 3000; ++i) {
    const auto score = static_cast<std::uint16_t>(random.next() % 65536);
    const bool positive = random.next() % 65536 < score;
    counter.add(score, positive);
    whole.add(score, positive);
    (i % 7 < 3 ? first : second).add(score, positive);
  }
  second += first;
  EXPECT_EQ(whole.to_json(), second.to_json());
  EXPECT_EQ(whole.to_json(), calibration_of(counter.counts()).to_json());
  EXPECT_LT(*whole.expected_error(), 0.03);  // drawn by their own probabilities
}

TEST(Calibration, OfNothingIsUndefined) {
  const Calibration none;
  EXPECT_FALSE(none.brier());
  EXPECT_FALSE(none.expected_error());
  EXPECT_TRUE(none.to_json()["bins"][0].is_null());
}

}  // namespace
}  // namespace headrace::measure
