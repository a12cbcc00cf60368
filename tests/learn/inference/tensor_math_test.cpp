#include "learn/inference/tensor_math.hpp"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "learn/inference/score_rows.hpp"
#include "learn/measure/base/score.hpp"
#include "tests/learn/model/model_device.hpp"

namespace headrace::inference {
namespace {

at::Tensor there(const at::Tensor& tensor) { return tensor.to(fixtures::model_device()); }

/// Every edge between two steps with its neighbours, and what is no probability.
TEST(TensorMath, StepsAreScores) {
  std::vector<float> values{std::numeric_limits<float>::quiet_NaN(), -1, -0.0f, 0, 1, 1.5f, 1e-42f};
  for (int step = 0; step < measure::kScoreSteps; step += 7) {
    const float edge = (static_cast<float>(step) + 0.5f) / measure::kScoreSteps;
    values.insert(values.end(), {edge, std::nextafter(edge, 0.0f), std::nextafter(edge, 2.0f)});
  }
  const at::Tensor found =
      in_steps(there(at::tensor(values, at::kFloat)), measure::kScoreSteps).to(at::kCPU);
  ASSERT_EQ(found.numel(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(found.const_data_ptr<std::int32_t>()[i], measure::score_of(values[i])) << values[i];
}

TEST(TensorMath, HalvesAreRoundedUp) {
  const at::Tensor found =
      rounded(there(at::tensor(std::vector<double>{0.5, 1.5, 2.5, 2.4999999}, at::kDouble)))
          .to(at::kCPU);
  const double* at = found.const_data_ptr<double>();
  EXPECT_EQ((std::vector<double>{at[0], at[1], at[2], at[3]}), (std::vector<double>{1, 2, 3, 2}));
}

TEST(TensorMath, ClassesAreTheHighestAndTheLowerOfEquals) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor p = at::tensor(std::vector<float>{0.2f, 0.5f, 0, nan,    //
                                                     0.3f, 0.5f, 0, 0.7f,   //
                                                     0.3f, 0.1f, 0, 0.9f},  //
                                  at::kFloat)
                           .view({1, 3, 4});
  const at::Tensor found = classes_of(there(p)).to(at::kCPU);
  const std::uint8_t* at = found.const_data_ptr<std::uint8_t>();
  EXPECT_EQ((std::vector<int>{at[0], at[1], at[2], at[3]}), (std::vector<int>{1, 0, 0, 0}));
}

TEST(TensorMath, SumsGoByTheOrderOfTheClasses) {
  const std::vector<float> values{0.1f, 0.7f, 1e8f, 3e-8f, 0.2f, -1e8f};
  const at::Tensor p = at::tensor(values, at::kFloat).view({1, 3, 2});
  const std::array<std::uint8_t, 3> order{1, 2, 0};
  const at::Tensor found = sum_of(there(p), order).to(at::kCPU);
  for (std::size_t i = 0; i < 2; ++i) {
    float sum = 0;
    for (const std::uint8_t c : order) sum += values[2 * c + i];
    EXPECT_EQ(found.const_data_ptr<float>()[i], sum);
  }
}

TEST(ScoreRows, HoldEveryScore) {
  std::vector<std::int32_t> scores;
  for (int score = 0; score < 65536; ++score) scores.push_back(score);
  const at::Tensor rows =
      two_rows(there(at::tensor(scores, at::kInt).view({2, 32768}))).contiguous().to(at::kCPU);
  for (std::size_t part = 0; part < 2; ++part) {
    const auto found =
        scores_of_rows({rows.const_data_ptr<std::uint8_t>() + part * 65536, std::size_t{65536}});
    ASSERT_EQ(found.size(), 32768u);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], part * 32768 + i);
  }
  EXPECT_TRUE(scores_of_rows({}).empty());
}

}  // namespace
}  // namespace headrace::inference
