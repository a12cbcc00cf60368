#include "learn/model/weight_average.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headrace::model {
namespace {

TEST(WeightAverage, FollowsTheFormulaInDoublePrecision) {
  Parameters weights(1), average(2);
  const at::Tensor w = weights.conv("w", 2, 3, 1), a = average.conv("w", 2, 3, 1);
  copy_parameters(weights, average);
  ASSERT_TRUE(a.equal(w));
  double expected = w.flatten()[4].item<double>();
  for (int step = 1; step <= 200; ++step) {
    {
      const at::NoGradGuard no_grad;
      at::Tensor(w).fill_(std::sin(step * 0.1));
    }
    average_weights(weights, average, 0.9, step);
    const double d = std::min(0.9, (1.0 + step) / (10.0 + step));
    expected =
        d * expected + (1 - d) * static_cast<double>(static_cast<float>(std::sin(step * 0.1)));
    ASSERT_NEAR(a.flatten()[4].item<double>(), expected, 2e-6) << step;
  }
}

TEST(WeightAverage, OfWhatDoesNotMoveIsItself) {
  Parameters weights(1), average(2);
  const at::Tensor w = weights.conv("w", 4, 3, 3), a = average.conv("w", 4, 3, 3);
  copy_parameters(weights, average);
  for (int step = 1; step <= 20; ++step) average_weights(weights, average, 0.999, step);
  EXPECT_TRUE(a.equal(w));
}

}  // namespace
}  // namespace headrace::model
