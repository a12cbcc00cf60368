#include "learn/measure/base/confusion.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "tests/learn/measure/golden/ratings.hpp"

namespace headrace::measure {
namespace {

TEST(Confusion, EqualsNumpysSets) {
  // golden/kappa.py
  const double dice[] = {0.2971887550200803, 0.34074074074074073, 0.22857142857142856,
                         0.18439716312056736};
  const double iou[] = {0.17452830188679244, 0.20535714285714285, 0.12903225806451613, 0.1015625};
  const auto [truth, predicted] = golden_case(400, 9);
  Confusion confusion(4);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    confusion.add(static_cast<std::size_t>(truth[i] % 4),
                  static_cast<std::size_t>(predicted[i] % 4));
  }
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_DOUBLE_EQ(confusion.dice(c).value(), dice[c]);
    EXPECT_DOUBLE_EQ(confusion.iou(c).value(), iou[c]);
  }
  EXPECT_DOUBLE_EQ(confusion.mean_dice().value(), (dice[1] + dice[2] + dice[3]) / 3);
  EXPECT_EQ(confusion.total(), 400u);
}

TEST(Confusion, AbsentClassesAreUndefinedAndStayOutOfTheMean) {
  Confusion confusion(4);
  confusion.add(0, 0, 10);
  confusion.add(1, 1, 6);
  confusion.add(1, 3, 2);
  EXPECT_FALSE(confusion.dice(2).has_value());
  EXPECT_DOUBLE_EQ(confusion.dice(3).value(), 0);
  EXPECT_DOUBLE_EQ(confusion.mean_dice().value(), (12.0 / 14 + 0) / 2);
  const Json json = confusion.to_json({"bg", "a", "b", "c"});
  EXPECT_TRUE(json.at("dice").at("b").is_null());
  EXPECT_EQ(json.at("matrix")[1][3], 2);
  EXPECT_DOUBLE_EQ(json.at("accuracy").get<double>(), 16.0 / 18);
}

TEST(Confusion, WhatLabelsCannotTellIsCountedWithoutFigures) {
  Confusion confusion(3, {false, false, true});
  confusion.add(0, 0, 50);
  confusion.add(1, 1, 30);
  confusion.add(0, 1, 10);
  confusion.add(1, 2, 10);  // the labels have no name for class 2
  EXPECT_FALSE(confusion.dice(2) || confusion.iou(2));
  EXPECT_EQ(confusion.mean_dice(), confusion.dice(1));
  EXPECT_EQ(confusion.dice(1), 60.0 / 80);
  Confusion sum(3, {false, false, true});
  sum += confusion;
  EXPECT_EQ(sum.mean_dice(), confusion.mean_dice());
  EXPECT_TRUE(confusion.to_json({"a", "b", "c"}).at("dice").at("c").is_null());
}

TEST(Confusion, NothingCountedIsUndefined) {
  const Confusion confusion(2);
  EXPECT_FALSE(confusion.mean_dice().has_value());
  EXPECT_TRUE(confusion.to_json({"bg", "a"}).at("accuracy").is_null());
}

TEST(Confusion, SumsAreSumsOfParts) {
  Confusion a(2), b(2);
  a.add(0, 1, 3);
  b.add(0, 1, 4);
  b.add(1, 1, 5);
  a += b;
  EXPECT_EQ(a.at(0, 1), 7u);
  EXPECT_EQ(a.truth_sum(0), 7u);
  EXPECT_EQ(a.predicted_sum(1), 12u);
  EXPECT_THROW(a += Confusion(3), Error);
}

}  // namespace
}  // namespace headrace::measure
