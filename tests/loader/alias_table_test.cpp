#include "headrace/loader/plan/alias_table.hpp"

#include <gtest/gtest.h>

#include <random>

#include "headrace/core/error.hpp"

namespace headrace::loader {
namespace {

TEST(AliasTable, ProbabilitiesAreTheWeightsShares) {
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    std::mt19937 random(seed);
    std::vector<double> weights(1 + random() % 3000);
    double sum = 0;
    for (double& weight : weights) {
      const std::uint32_t kind = random() % 4;
      weight = kind == 0   ? 0.0
               : kind == 1 ? 1.0
               : kind == 2 ? random() % 1000
                           : (random() % 1000) * 1e6;
      sum += weight;
    }
    if (sum == 0) sum = weights[0] = 1;
    const AliasTable table(weights);
    const auto probabilities = table.probabilities();
    ASSERT_EQ(probabilities.size(), weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      ASSERT_NEAR(probabilities[i], weights[i] / sum, 5e-10) << "seed " << seed << ", index " << i;
      if (weights[i] == 0) {
        ASSERT_EQ(probabilities[i], 0) << "seed " << seed << ", index " << i;
      }
    }
  }
}

TEST(AliasTable, DrawFollowsItsProbabilitiesOverAnExhaustiveGridOfWords) {
  const std::vector<double> weights{1, 0, 3, 4, 8};
  const AliasTable table(weights);
  std::vector<double> count(weights.size(), 0);
  constexpr std::uint32_t kGrid = 1000;
  for (std::uint32_t a = 0; a < kGrid; ++a) {
    for (std::uint32_t b = 0; b < kGrid; ++b) {
      const auto word = [](std::uint32_t i) {
        return static_cast<std::uint32_t>((std::uint64_t{i} * 2 + 1) * (std::uint64_t{1} << 31) /
                                          kGrid);
      };
      ++count[table.draw(word(a), word(b))];
    }
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(count[i] / (1.0 * kGrid * kGrid), weights[i] / 16, 1.5 / kGrid) << i;
  }
  EXPECT_EQ(count[1], 0);
}

TEST(AliasTable, OneWeightIsAlwaysDrawn) {
  const std::vector<double> one{0.3}, last{0, 0, 5};
  for (const std::uint32_t word : {0u, 1u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    EXPECT_EQ(AliasTable(one).draw(word, word), 0u);
    EXPECT_EQ(AliasTable(last).draw(word, word), 2u);
    EXPECT_EQ(AliasTable(last).draw(word, ~word), 2u);
  }
}

TEST(AliasTable, RefusesWeightsThatAreNone) {
  const std::vector<double> zero{0, 0}, negative{1, -1}, infinite{1, INFINITY}, none;
  for (const auto* weights : {&zero, &negative, &infinite, &none})
    EXPECT_THROW(AliasTable{*weights}, Error);
}

}  // namespace
}  // namespace headrace::loader
