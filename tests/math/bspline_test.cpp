#include "headrace/math/bspline.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headrace::math {
namespace {

/// scipy 1.17.1: BSpline.basis_element(range(5))(t + 3 - i), i = 0..3, at t = 0.3.
TEST(Spline, WeightsAreTheCubicBasis) {
  const double expected[4] = {0.05716666666666667, 0.5901666666666666, 0.34816666666666657, 0.0045};
  const auto w = spline_weights(0.3);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(w.w[i], expected[i], 1e-15);
}

TEST(Spline, WeightsSumToOneAndAreNotNegative) {
  for (float t = 0; t <= 1; t += 0.001f) {
    const auto w = spline_weights(t);
    EXPECT_NEAR(w.w[0] + w.w[1] + w.w[2] + w.w[3], 1, 2e-7f);
    for (const float v : w.w) EXPECT_GE(v, 0);
  }
}

TEST(Spline, CellPolynomialIsTheWeightedSum) {
  const double c[4] = {1.5, -2, 0.25, 7};
  const auto cell = spline_cell(c[0], c[1], c[2], c[3]);
  for (double t = 0; t <= 1; t += 0.01) {
    const auto w = spline_weights(t);
    EXPECT_NEAR(cell(t), w.w[0] * c[0] + w.w[1] * c[1] + w.w[2] * c[2] + w.w[3] * c[3], 1e-14);
  }
}

TEST(Spline, PlacesOutsideTheGridTakeTheBordersValue) {
  constexpr int kGrid = 8;
  for (const float g : {-1e30f, -100.0f, -3.0f, 11.0f, 50.0f, 1e30f}) {
    const SplinePlace place = spline_place(g, kGrid);
    const int border = g < 0 ? 0 : kGrid + 2;
    for (int tap = 0; tap < 4; ++tap) {
      EXPECT_EQ(spline_control(place.cell, tap, kGrid), border) << g;
    }
    EXPECT_TRUE(place.t >= 0 && place.t <= 1) << g;
  }
}

TEST(Spline, PlaceSplitsIntoCellAndRest) {
  for (float g = -2.9f; g < 10.9f; g += 0.013f) {
    const SplinePlace place = spline_place(g, 8);
    EXPECT_NEAR(float(place.cell) + place.t, g, 1e-7) << g;
    EXPECT_TRUE(place.t >= -3e-7f && place.t < 1) << g;
  }
}

}  // namespace
}  // namespace headrace::math
