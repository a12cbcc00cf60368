// Mean and spread over folds. Quantiles are scipy.stats.t.ppf(0.975, n).
#include "learn/runs/fold_spread.hpp"

#include <gtest/gtest.h>

namespace headrace::runs {
namespace {

TEST(FoldSpread, QuantilesOfStudentsT) {
  EXPECT_NEAR(t_quantile_975(1), 12.706204736174694, 1e-7);
  EXPECT_NEAR(t_quantile_975(2), 4.302652729749462, 1e-8);
  EXPECT_NEAR(t_quantile_975(4), 2.7764451051977934, 1e-8);
  EXPECT_NEAR(t_quantile_975(49), 2.0095752371292388, 1e-8);
}

TEST(FoldSpread, UndefinedFoldsAreLeftOut) {
  const FoldSpread some = spread_of({0.5, std::nullopt, 0.75});
  EXPECT_DOUBLE_EQ(*some.mean, 0.625);
  EXPECT_DOUBLE_EQ(*some.sd, 0.17677669529663687);  // 0.25 / √2
  const FoldSpread one = spread_of({std::nullopt, 0.75});
  EXPECT_DOUBLE_EQ(*one.mean, 0.75);
  EXPECT_FALSE(one.sd || one.t_95);
  EXPECT_FALSE(spread_of({std::nullopt, std::nullopt}).mean);
}

TEST(FoldSpread, AGroupThatAFoldLacksIsUndefinedThereAndCountsHaveNoSpread) {
  const Json a = {{"overall", {{"images", 4}, {"dice", {{"liver", 0.5}}}}},
                  {"cohorts", {{"east", {{"images", 4}, {"dice", {{"liver", 0.5}}}}}}}};
  const Json b = {{"overall", {{"images", 2}, {"dice", {{"liver", nullptr}}}}},
                  {"cohorts", Json::object()}};
  const Json out = spreads_of({a, b});
  EXPECT_FALSE(out.at("overall").contains("images"));
  EXPECT_EQ(out.at("overall").at("dice").at("liver").at("values"), (Json{0.5, nullptr}));
  EXPECT_EQ(out.at("cohorts").at("east").at("dice").at("liver").at("values"), (Json{0.5, nullptr}));
}

}  // namespace
}  // namespace headrace::runs
