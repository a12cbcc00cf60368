#include "learn/measure/slide/kappa.hpp"

#include <gtest/gtest.h>

#include "learn/measure/slide/gleason_grade.hpp"
#include "tests/learn/measure/golden/ratings.hpp"

namespace headrace::measure {
namespace {

std::vector<RatedSlide> rated(const std::vector<int>& truth, const std::vector<int>& predicted) {
  std::vector<RatedSlide> out;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    out.push_back({truth[i], predicted[i]});
  }
  return out;
}

TEST(QuadraticKappa, EqualsTheDefinitionInNumpy) {
  struct Golden {  // golden/kappa.py
    std::size_t n;
    std::int64_t seed;
    double kappa;
  };
  for (const Golden& golden : {Golden{10, 1, 0.8135593220338984}, Golden{50, 2, 0.5483317948041673},
                               Golden{300, 3, 0.6316897173782321}}) {
    auto [truth, predicted] = golden_case(golden.n, golden.seed);
    for (std::size_t k = 0; k < golden.n; ++k) {
      if (k % 3 != 0) predicted[k] = truth[k];
    }
    EXPECT_NEAR(quadratic_kappa(rated(truth, predicted), kGradeGroups).value(), golden.kappa,
                1e-14);
  }
}

TEST(QuadraticKappa, ByHand) {
  EXPECT_DOUBLE_EQ(quadratic_kappa(rated({0, 1, 2, 5}, {0, 1, 2, 5}), 6).value(), 1);
  // Two grades, all wrong: observed 2·1, expected 2·2·1/2... = 1, so 1 - 2/1.
  EXPECT_DOUBLE_EQ(quadratic_kappa(rated({0, 1}, {1, 0}), 6).value(), -1);
  // One constant rater: no better than chance.
  EXPECT_DOUBLE_EQ(quadratic_kappa(rated({0, 1, 2, 3}, {2, 2, 2, 2}), 6).value(), 0);
}

TEST(QuadraticKappa, OneGradeAloneIsUndefined) {
  EXPECT_FALSE(quadratic_kappa({}, 6).has_value());
  EXPECT_FALSE(quadratic_kappa(rated({3, 3}, {3, 3}), 6).has_value());
}

}  // namespace
}  // namespace headrace::measure
