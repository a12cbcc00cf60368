#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headrace/math/normal.hpp"
#include "headrace/math/philox.hpp"

namespace headrace::math {
namespace {

struct KnownAnswer {
  std::uint32_t counter[4], key[2], out[4];
};
/// Random123 1.14, tests/kat_vectors, lines "philox4x32 10".
constexpr KnownAnswer kKnown[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST(Philox, GivesThePublishedVectors) {
  for (const KnownAnswer& k : kKnown) {
    const Philox4 out = philox4x32_10(
        Philox4{{k.counter[0], k.counter[1], k.counter[2], k.counter[3]}}, k.key[0], k.key[1]);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out.v[i], k.out[i]);
  }
}

TEST(Philox, LanesGiveThePublishedVectors) {
  for (const KnownAnswer& k : kKnown) {
    Philox4Of<v8u> counter;
    for (int i = 0; i < 4; ++i) counter.v[i] = v8u{} + k.counter[i];
    const auto out = philox4x32_10(counter, k.key[0], k.key[1]);
    for (int i = 0; i < 4; ++i) {
      for (int lane = 0; lane < 8; ++lane) EXPECT_EQ(out.v[i][lane], k.out[i]);
    }
  }
}

TEST(Philox, UniformsAreBelowOne) {
  EXPECT_EQ(uniform01(0u), 0.0f);
  EXPECT_LT(uniform01(0xFFFFFFFFu), 1.0f);
  EXPECT_LT(uniform01(0xFFFFFFFFu, 0xFFFFFFFFu), 1.0);
}

std::vector<float> deviates(std::uint32_t blocks) {
  std::vector<float> out;
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const auto four = normals_of<float>(philox4x32_10(Philox4{{i, 0, 0, 0}}, 7, 11));
    out.insert(out.end(), four.v, four.v + 4);
  }
  return out;
}

/// 4 million deviates; each bound is four standard errors of the statistic, so a true normal fails
/// one in 16,000.
TEST(Normal, HasTheMomentsOfANormal) {
  const std::vector<float> x = deviates(1'000'000);
  const double n = double(x.size());
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  for (const double v : x) {
    m1 += v / n;
    m2 += v * v / n;
    m3 += v * v * v / n;
    m4 += v * v * v * v / n;
  }
  EXPECT_NEAR(m1, 0, 4 * std::sqrt(1 / n));
  EXPECT_NEAR(m2, 1, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(m3, 0, 4 * std::sqrt(15 / n));
  EXPECT_NEAR(m4, 3, 4 * std::sqrt(96 / n));
}

/// Tails: the share beyond t against erfc, four standard errors; the distribution by
/// Kolmogorov–Smirnov at 0.1 %.
TEST(Normal, HasTheTailsOfANormal) {
  std::vector<float> x = deviates(1'000'000);
  std::sort(x.begin(), x.end());
  const double n = double(x.size());
  for (const double t : {0.5, 1.0, 2.0, 3.0, 4.0, 4.5}) {
    const double p = 0.5 * std::erfc(t / std::sqrt(2.0));
    const double error = 4 * std::sqrt(p * (1 - p) * n);
    const double above = double(x.end() - std::upper_bound(x.begin(), x.end(), float(t)));
    const double below = double(std::lower_bound(x.begin(), x.end(), float(-t)) - x.begin());
    EXPECT_NEAR(above, p * n, error) << t;
    EXPECT_NEAR(below, p * n, error) << t;
  }
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double cdf = 0.5 * std::erfc(-double(x[i]) / std::sqrt(2.0));
    worst = std::max(worst, std::abs(cdf - (double(i) + 0.5) / n));
  }
  EXPECT_LT(worst, 1.95 / std::sqrt(n));
}

TEST(Normal, NeighboursAreUncorrelated) {
  const std::vector<float> x = deviates(500'000);
  for (const std::size_t lag : {1u, 2u, 3u, 4u, 8u}) {
    double sum = 0;
    for (std::size_t i = lag; i < x.size(); ++i) sum += double(x[i]) * double(x[i - lag]);
    EXPECT_LT(std::abs(sum / double(x.size())), 4 / std::sqrt(double(x.size()))) << lag;
  }
}

TEST(Normal, MatchesBoxMullerInDouble) {
  double worst_near = 0, worst_far = 0;
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    const Philox4 w = philox4x32_10(Philox4{{i, 5, 0, 0}}, 1, 2);
    float a, b;
    normal_pair<float>(w.v[0], w.v[1], a, b);
    const double u = ((w.v[0] >> 8) + 0.5) * 0x1p-24;
    const double r = std::sqrt(-2 * std::log(u));
    const double angle = double(w.v[1] >> 8) * 0x1p-27 * 6.283185307179586477;
    double x = r * std::cos(angle), y = r * std::sin(angle);
    if (w.v[1] & 1) std::swap(x, y);
    if (w.v[1] & 2) x = -x;
    if (w.v[1] & 4) y = -y;
    double& worst = r < 0.1 ? worst_near : worst_far;
    worst = std::max({worst, std::abs(a - x), std::abs(b - y)});
  }
  EXPECT_LT(worst_near, 2e-3);
  EXPECT_LT(worst_far, 3e-5);
}

TEST(Normal, ExtremeWordsGiveFiniteDeviatesWithinTheRange) {
  for (const std::uint32_t radius : {0u, 1u, 0xFFFFFFFFu, 0xFFFFFF00u, 0x80000000u, 0x7FFFFFFFu}) {
    for (const std::uint32_t angle : {0u, 0xFFFFFFFFu, 0x80000001u}) {
      float a, b;
      normal_pair<float>(radius, angle, a, b);
      EXPECT_TRUE(std::isfinite(a) && std::isfinite(b));
      EXPECT_LE(std::hypot(a, b), 5.9f);
      v8f la, lb;
      normal_pair<v8f>(v8u{} + radius, v8u{} + angle, la, lb);
      EXPECT_EQ(bits_of(la[4]), bits_of(a));
      EXPECT_EQ(bits_of(lb[4]), bits_of(b));
    }
  }
}

}  // namespace
}  // namespace headrace::math
