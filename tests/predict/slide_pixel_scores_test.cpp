#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "headrace/pixels/entropy_table.hpp"
#include "headrace/predict/slide/pixel_scores.hpp"

namespace headrace::predict {
namespace {

TEST(ProbabilityByte, RoundsAndCuts) {
  EXPECT_EQ(probability_byte(0), 0);
  EXPECT_EQ(probability_byte(1), 255);
  EXPECT_EQ(probability_byte(0.5f), 128);    // 127.5
  EXPECT_EQ(probability_byte(0.25f), 64);    // 63.75
  EXPECT_EQ(probability_byte(0.001f), 0);    // 0.255
  EXPECT_EQ(probability_byte(0.999f), 255);  // 254.7
  EXPECT_EQ(probability_byte(-1), 0);
  EXPECT_EQ(probability_byte(2), 255);
  EXPECT_EQ(probability_byte(std::numeric_limits<float>::quiet_NaN()), 0);
}

TEST(EntropyTable, NoValueIsNearTheMiddleOfTwoSteps) {
  const auto table = pixels::entropy_table();
  EXPECT_EQ(table[0], 0u);
  EXPECT_EQ(table[255], 0u);
  for (std::size_t i = 1; i < 255; ++i) {
    const long double p = static_cast<long double>(i) / 255;
    const long double steps = -p * std::log2(p) * 65536;
    EXPECT_LT(std::fabs(steps - table[i]), 0.5L - 1e-6L) << i;
  }
}

TEST(PixelScores, RoundedProbabilitiesAndEntropy) {
  PixelScores scores(4);
  // Pixels: certain, two classes alike, all alike, nothing predicted.
  const std::vector<float> row{1, 0.5f, 0.25f, 0,   //
                               0, 0.5f, 0.25f, 0,   //
                               0, 0,    0.25f, 0,   //
                               0, 0,    0.25f, 0};  //
  const auto found = scores.of(row);
  // Two alike: 2 · 128/255 · log2(255/128) = 0.99826 of 2 bits. All alike: 4 · 64/255 · ..., a bit
  // above 2 bits as 4 · 64 is above 255.
  const std::vector<std::uint8_t> expected{255, 128, 64, 0, 0,  128, 64, 0,   0,   0,
                                           64,  0,   0,  0, 64, 0,   0,  127, 255, 0};
  EXPECT_EQ(std::vector<std::uint8_t>(found.begin(), found.end()), expected);
}

TEST(PixelScores, OneClassIsCertain) {
  PixelScores scores(1);
  const std::vector<float> row{1, 0.5f};
  const auto found = scores.of(row);
  EXPECT_EQ(std::vector<std::uint8_t>(found.begin(), found.end()),
            (std::vector<std::uint8_t>{255, 128, 0, 0}));
}

}  // namespace
}  // namespace headrace::predict
