#include "learn/suggest/feature_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headrace::suggest {
namespace {

TEST(Median, OfOddAndEvenNumbers) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_of({7}), 7);
}

TEST(FeatureTable, NumbersAreStandardisedByMedianAndMad) {
  FeatureTable table(5);
  // Median 3, MAD 1: z = (v - 3) / 1.4826, and 100 is cut at 3.5.
  table.add_numbers({{1, 2, 3, 4, 100}});
  EXPECT_NEAR(table.distance(0, 2), 2 / 1.4826, 1e-12);
  EXPECT_NEAR(table.distance(1, 3), 2 / 1.4826, 1e-12);
  EXPECT_NEAR(table.distance(2, 4), 3.5, 1e-12);
}

TEST(FeatureTable, WhereMostAreAlikeTheMeanDeviationIsTheScale) {
  FeatureTable table(5);
  // MAD 0, mean absolute deviation (1 + 2) / 5.
  table.add_numbers({{0, 0, 0, 1, 2}});
  const double spread = 1.2533 * 3 / 5;
  EXPECT_NEAR(table.distance(0, 3), 1 / spread, 1e-12);
  EXPECT_NEAR(table.distance(0, 4), 2 / spread, 1e-12);
}

TEST(FeatureTable, GroupsWeighTheSameHoweverManyColumnsTheyHave) {
  const FeatureColumn column{0, 1, 2};
  FeatureTable one(3), many(3);
  one.add_numbers({column});
  // Columns without a difference, or without a value, are no columns.
  many.add_numbers({column, {7, 7, 7}, column, {{}, {}, {}}, column});
  EXPECT_NEAR(one.distance(0, 2), many.distance(0, 2), 1e-12);
  EXPECT_GT(one.distance(0, 2), 0);
}

TEST(FeatureTable, WhatIsNotKnownIsTheMedian) {
  FeatureTable table(4);
  table.add_numbers({{1, 2, 3, {}}});
  EXPECT_EQ(table.distance(1, 3), 0);
  EXPECT_NEAR(table.distance(0, 3), 1 / 1.4826, 1e-12);
}

TEST(FeatureTable, NamesThatAllDifferHaveTheSquaredDistanceTwo) {
  FeatureTable table(3);
  table.add_names({{"a", "a", "b"}, {"x", "", "y"}});
  EXPECT_NEAR(table.distance(0, 2), std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(table.distance(0, 1), 1, 1e-12);
  EXPECT_EQ(table.distance(1, 1), 0);
}

}  // namespace
}  // namespace headrace::suggest
