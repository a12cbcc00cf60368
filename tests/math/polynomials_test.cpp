#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headrace/math/colour.hpp"
#include "headrace/math/polynomials.hpp"

namespace headrace::math {
namespace {

/// Every 61st float of the range, so that each binade and the joints between them are met.
template <typename Body>
void over_floats(float low, float high, Body body) {
  for (std::int32_t bits = bits_of(low); bits <= bits_of(high); bits += 61) body(float_of(bits));
  body(high);
}

TEST(Polynomials, Log2) {
  double worst = 0;
  over_floats(0x1p-32f, 0x1p16f, [&](float x) {
    worst = std::max(worst, std::abs(double(log2_of(x)) - std::log2(double(x))));
  });
  EXPECT_LT(worst, 3.5e-6);
}

TEST(Polynomials, Log2IsExactAtPowersOfTwo) {
  for (int e = -126; e <= 126; ++e) EXPECT_EQ(log2_of(std::ldexp(1.0f, e)), float(e));
}

TEST(Polynomials, Exp2) {
  double worst = 0;
  for (double x = -126; x <= 126; x += 0.00041) {
    const auto f = static_cast<float>(x);
    const double expected = std::exp2(double(f));
    worst = std::max(worst, std::abs(double(exp2_of(f)) / expected - 1));
  }
  EXPECT_LT(worst, 3.5e-6);
}

TEST(Polynomials, Exp2OfAnythingIsAPositiveNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  for (const float x : {nan, inf, -inf, 1e30f, -1e30f, 200.0f, -200.0f}) {
    const float y = exp2_of(x);
    EXPECT_TRUE(std::isnormal(y) && y > 0) << x;
    EXPECT_EQ(bits_of(exp2_of(Memory<v8f>::splat(x))[2]), bits_of(y)) << x;
  }
}

TEST(Polynomials, SineAndCosine) {
  double worst = 0;
  over_floats(0x1p-24f, 0.125f, [&](float turns) {
    float sine, cosine;
    sine_cosine_octant(turns, sine, cosine);
    const double angle = double(turns) * 6.283185307179586477;
    worst = std::max({worst, std::abs(sine - std::sin(angle)), std::abs(cosine - std::cos(angle))});
  });
  EXPECT_LT(worst, 1e-6);
}

TEST(Polynomials, LanesGiveTheBitsOfOne) {
  over_floats(0x1p-20f, 0x1p12f, [](float x) {
    const v8f lanes = Memory<v8f>::splat(x);
    ASSERT_EQ(bits_of(log2_of(lanes)[1]), bits_of(log2_of(x)));
    ASSERT_EQ(bits_of(exp2_of(lanes * 0.02f - 40.0f)[6]), bits_of(exp2_of(x * 0.02f - 40.0f)));
  });
}

TEST(Colour, DensityMatchesDouble) {
  const Colour34 a{{1.2f, -0.3f, 0.05f, 0.4f, 0.1f, 0.8f, -0.02f, 0.9f, -0.2f, 0.15f, 1.1f, -0.3f}};
  double worst = 0;
  for (int r = 0; r < 256; r += 5) {
    for (int g = 0; g < 256; g += 5) {
      for (int b = 0; b < 256; b += 5) {
        const Rgb<float> got = affine_density(a, Rgb<float>{float(r), float(g), float(b)});
        const double log[3] = {std::log2(r + 1.0), std::log2(g + 1.0), std::log2(b + 1.0)};
        const float v[3] = {got.r, got.g, got.b};
        for (int c = 0; c < 3; ++c) {
          const float* m = a.m + 4 * c;
          const double expected =
              std::exp2(m[0] * log[0] + m[1] * log[1] + m[2] * log[2] + double(m[3])) - 1;
          if (expected <= 255) worst = std::max(worst, std::abs(v[c] - expected));
        }
      }
    }
  }
  EXPECT_LT(worst, 3e-3);
}

TEST(Colour, NanInputGivesAColour) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Colour34 identity{{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
  const Rgb<float> got = affine_density(identity, Rgb<float>{nan, 1e30f, -1e30f});
  EXPECT_NEAR(got.r, 0, 1e-3);
  EXPECT_NEAR(got.g, 255, 1e-3);
  EXPECT_NEAR(got.b, 0, 1e-3);
}

}  // namespace
}  // namespace headrace::math
