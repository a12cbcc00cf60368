#include "learn/suggest/greedy_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace headrace::suggest {
namespace {

/// Points on a line whose median and MAD are those of -1, 0, 1, so that distances keep their order.
FeatureTable on_a_line(const std::vector<double>& places) {
  FeatureTable table(places.size());
  table.add_numbers({FeatureColumn(places.begin(), places.end())});
  return table;
}

ChoiceInput input_of(std::vector<double> uncertainty, std::vector<std::string> cases = {}) {
  ChoiceInput input;
  for (std::size_t i = 0; cases.size() < uncertainty.size(); ++i)
    cases.push_back("case-" + std::to_string(i));
  input.labelled.assign(uncertainty.size(), false);
  input.uncertainty = std::move(uncertainty);
  input.cases = std::move(cases);
  return input;
}

std::vector<std::size_t> order_of(const std::vector<Chosen>& chosen) {
  std::vector<std::size_t> images;
  for (const Chosen& one : chosen) images.push_back(one.image);
  return images;
}

TEST(GreedyChoice, TheMostUncertainFirstThenWhatIsFarFromIt) {
  const auto table = on_a_line({0, 0.1, 1, 2});
  const auto chosen = choose_greedily(table, input_of({0.9, 0.89, 0.5, 0.5}), 4, CaseOrder::any);
  EXPECT_EQ(order_of(chosen), (std::vector<std::size_t>{0, 3, 2, 1}));
  EXPECT_FALSE(chosen[0].distance.has_value());
  EXPECT_FALSE(chosen[0].nearest.has_value());
  EXPECT_EQ(chosen[2].nearest, 0u);  // as near as 3, which came later
  EXPECT_DOUBLE_EQ(*chosen[1].distance, table.distance(0, 3));
}

TEST(GreedyChoice, WhatIsLabelledKeepsItsLikesAway) {
  const auto table = on_a_line({0, 0.1, 1, 2});
  ChoiceInput input = input_of({0, 0.9, 0.5, 0.5});
  input.labelled[0] = true;
  const auto chosen = choose_greedily(table, input, 2, CaseOrder::any);
  EXPECT_EQ(order_of(chosen), (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(chosen[0].nearest, 0u);
}

TEST(GreedyChoice, EqualOnesInTheirOrder) {
  const auto table = on_a_line({1, 1, 1, 1});
  EXPECT_EQ(order_of(choose_greedily(table, input_of({0.2, 0.5, 0.5, 0.7}), 9, CaseOrder::any)),
            (std::vector<std::size_t>{3, 1, 2, 0}));
}

TEST(GreedyChoice, NoSecondImageOfACaseBeforeEveryCaseHasOne) {
  const auto table = on_a_line({0, 1, 2, 3, 4, 5});
  ChoiceInput input = input_of({0.9, 0.9, 0.9, 0.1, 0.1, 0}, {"a", "a", "a", "b", "c", "c"});
  input.labelled[5] = true;
  const auto chosen = order_of(choose_greedily(table, input, 6, CaseOrder::each_first));
  // c is labelled: a and b come first, then one of each again.
  ASSERT_EQ(chosen.size(), 5u);
  const auto case_at = [&](std::size_t k) { return input.cases[chosen[k]]; };
  EXPECT_EQ(std::min(case_at(0), case_at(1)), "a");
  EXPECT_EQ(std::max(case_at(0), case_at(1)), "b");
  EXPECT_EQ(std::min(case_at(2), case_at(3)), "a");
  EXPECT_EQ(std::max(case_at(2), case_at(3)), "c");
  EXPECT_EQ(case_at(4), "a");
  const auto any = order_of(choose_greedily(table, input, 3, CaseOrder::any));
  EXPECT_EQ(std::count_if(any.begin(), any.end(), [](std::size_t i) { return i < 3; }), 3);
}

/// The definition, by trying all images at each step.
std::vector<std::size_t> by_definition(const FeatureTable& table, const ChoiceInput& input) {
  std::vector<std::size_t> chosen, taken;
  for (std::size_t i = 0; i < table.images(); ++i)
    if (input.labelled[i]) taken.push_back(i);
  while (taken.size() < table.images()) {
    double most = -1;
    std::size_t best = 0;
    for (std::size_t i = 0; i < table.images(); ++i) {
      if (std::find(taken.begin(), taken.end(), i) != taken.end()) continue;
      double nearest = taken.empty() ? 1 : 1e300;
      for (const std::size_t k : taken) nearest = std::min(nearest, table.distance(i, k));
      if (input.uncertainty[i] * nearest <= most) continue;
      most = input.uncertainty[i] * nearest;
      best = i;
    }
    chosen.push_back(best);
    taken.push_back(best);
  }
  return chosen;
}

TEST(GreedyChoice, IsItsDefinition) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(0.05, 1);
  for (int round = 0; round < 5; ++round) {
    FeatureTable table(30);
    std::vector<FeatureColumn> columns(4);
    for (auto& column : columns)
      for (int i = 0; i < 30; ++i) column.push_back(number(random));
    table.add_numbers(columns);
    std::vector<double> uncertainty;
    for (int i = 0; i < 30; ++i) uncertainty.push_back(number(random));
    ChoiceInput input = input_of(uncertainty);
    for (std::size_t i = 0; i < 30; i += 7) input.labelled[i] = round % 2 == 0;
    EXPECT_EQ(order_of(choose_greedily(table, input, 30, CaseOrder::any)),
              by_definition(table, input));
  }
}

}  // namespace
}  // namespace headrace::suggest
