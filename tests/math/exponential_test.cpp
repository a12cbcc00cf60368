#include "headrace/math/exponential.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headrace::math {
namespace {

TEST(Exponential, MatchesLibm) {
  long double largest = 0;
  for (int i = 0; i <= 40000; ++i) {
    const double x = -0.001 * i;
    const long double truth = std::exp(static_cast<long double>(x));
    largest = std::max(largest, std::abs((exp_of(x) - truth) / truth));
  }
  EXPECT_LT(largest, 1e-12L);
  EXPECT_EQ(exp_of(0.0), 1.0);
}

}  // namespace
}  // namespace headrace::math
