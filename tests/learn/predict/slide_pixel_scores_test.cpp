#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "headrace/pixels/entropy_table.hpp"
#include "learn/predict/slide/pixel_scores.hpp"
#include "learn/result/probability_byte.hpp"

namespace headrace::predict {
namespace {

using result::probability_byte;

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
  // Pixels: certain, two classes alike, all alike, nothing predicted.
  const std::vector<float> row{1, 0.5f, 0.25f, 0,   //
                               0, 0.5f, 0.25f, 0,   //
                               0, 0,    0.25f, 0,   //
                               0, 0,    0.25f, 0};  //
  std::vector<std::uint8_t> found(5 * 4);
  PixelScores(4).of(row, found);
  // Two alike: 2 · 128/255 · log2(255/128) = 0.99826 of 2 bits. All alike: 4 · 64/255 · ..., a bit
  // above 2 bits as 4 · 64 is above 255.
  const std::vector<std::uint8_t> expected{255, 128, 64, 0, 0,  128, 64, 0,   0,   0,
                                           64,  0,   0,  0, 64, 0,   0,  127, 255, 0};
  EXPECT_EQ(found, expected);
}

TEST(PixelScores, OneClassIsCertain) {
  const std::vector<float> row{1, 0.5f};
  std::vector<std::uint8_t> found(4);
  PixelScores(1).of(row, found);
  EXPECT_EQ(found, (std::vector<std::uint8_t>{255, 128, 0, 0}));
}

TEST(PixelScores, EntropyIsThatOfWholeNumbers) {
  constexpr std::size_t kPixels = 5000;  // more than a block
  std::mt19937 random(5);
  for (const std::size_t classes : {2u, 3u, 6u, 7u, 128u}) {
    std::vector<float> row(classes * kPixels);
    for (float& value : row) value = static_cast<float>(random() % 1024) / 1023.0f / 2.0f;
    for (std::size_t x = 0; x < 256; ++x) {  // a first class of every byte, the second the rest
      for (std::size_t c = 0; c < classes; ++c) row[c * kPixels + x] = 0;
      row[x] = static_cast<float>(x) / 255.0f;
      row[kPixels + x] = static_cast<float>(255 - x) / 255.0f;
    }
    std::vector<std::uint8_t> found((classes + 1) * kPixels);
    PixelScores(classes).of(row, found);
    const auto table = pixels::entropy_table();
    const std::uint64_t most = pixels::most_entropy(classes);
    for (std::size_t x = 0; x < kPixels; ++x) {
      std::uint64_t sum = 0;
      for (std::size_t c = 0; c < classes; ++c) {
        ASSERT_EQ(found[c * kPixels + x], probability_byte(row[c * kPixels + x]));
        sum += table[found[c * kPixels + x]];
      }
      ASSERT_EQ(found[classes * kPixels + x],
                std::min<std::uint64_t>((sum * 255 + most / 2) / most, 255))
          << classes << " classes, pixel " << x;
    }
  }
}

}  // namespace
}  // namespace headrace::predict
