#include "headrace/pixels/stain/stain_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "headrace/core/error.hpp"
#include "tests/transform/golden.hpp"

namespace headrace::pixels {
namespace {

using transform::fixtures::golden;

double angle_deg(const std::array<double, 6>& a, const std::vector<double>& b, int stain) {
  double dot = 0;
  for (int c = 0; c < 3; ++c) dot += a[std::size_t(c * 2 + stain)] * b[std::size_t(c * 2 + stain)];
  return std::acos(std::min(dot, 1.0)) * 180 / 3.14159265358979;
}

StainAccumulator add_all(const transform::fixtures::Picture& p, StainVariant variant) {
  StainAccumulator out(variant);
  out.add(p.rgb.data(), p.height * p.width);
  return out;
}

/// The references see every pixel; here percentiles are those of a histogram of 4 × 4 × 4 levels:
/// vectors within 0.2°, maxima within 0.5 %. Moments are exact but for OD's table of 2^-13.
void expect_like(const StainAccumulator& sums, const Json& g) {
  ASSERT_EQ(sums.moments().pixels, g["pixels"].get<std::uint64_t>());
  const auto got = sums.estimate();
  ASSERT_TRUE(got.has_value());
  const auto he = g["he"].get<std::vector<double>>(), max = g["max"].get<std::vector<double>>();
  for (int stain = 0; stain < 2; ++stain) {
    EXPECT_LT(angle_deg(got->stain_od_rgb_he, he, stain), 0.2) << stain;
    EXPECT_NEAR(got->max_concentration[std::size_t(stain)] / max[std::size_t(stain)], 1, 0.005)
        << stain;
  }
}

TEST(StainEstimate, LnAllIsThatOfTorchstainOnRealTissue) {
  for (const auto& [name, g] : golden()["estimate"].items()) {
    SCOPED_TRACE(name);
    expect_like(add_all(transform::fixtures::tissue_picture(name), StainVariant::macenko_ln_all),
                g["torchstain"]);
  }
}

TEST(StainEstimate, Log10AnyIsThatOfTheDoubleModelOnRealTissue) {
  for (const auto& [name, g] : golden()["estimate"].items()) {
    SCOPED_TRACE(name);
    const auto sums =
        add_all(transform::fixtures::tissue_picture(name), StainVariant::macenko_log10_any);
    expect_like(sums, g["log10_any"]);
    const auto mean = sums.moments().mean(), std = sums.moments().std();
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(mean[c], g["log10_any"]["od_mean"][c].get<double>(), 4e-5);
      EXPECT_NEAR(std[c], g["log10_any"]["od_std"][c].get<double>(), 4e-5);
    }
  }
}

TEST(StainEstimate, AnySplitMergedInAnyOrderIsTheSame) {
  const auto p = transform::fixtures::tissue_picture("tcga-lung-rgb.png");
  const auto whole = add_all(p, StainVariant::macenko_log10_any).estimate();
  ASSERT_TRUE(whole.has_value());
  for (const int parts : {2, 7, 32}) {
    std::vector<StainAccumulator> some(static_cast<std::size_t>(parts));
    const std::int64_t pixels = p.height * p.width;
    for (std::int64_t i = 0; i < pixels; i += 1000) {
      some[std::size_t(i / 1000 % parts)].add(p.rgb.data() + i * 3,
                                              std::min<std::int64_t>(1000, pixels - i));
    }
    StainAccumulator merged;
    for (int i = parts - 1; i >= 0; --i) merged.merge(some[std::size_t(i)]);
    const auto got = merged.estimate();
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->stain_od_rgb_he, whole->stain_od_rgb_he) << parts;
    EXPECT_EQ(got->max_concentration, whole->max_concentration) << parts;
  }
}

TEST(StainEstimate, MaskLeavesPixelsOut) {
  const auto p = transform::fixtures::tissue_picture("stain_target.png");
  const std::int64_t half = p.height * p.width / 2;
  std::vector<std::uint8_t> mask(std::size_t(2 * half));
  std::fill(mask.begin(), mask.begin() + half, std::uint8_t{1});
  StainAccumulator masked, first;
  masked.add(p.rgb.data(), 2 * half, mask.data());
  first.add(p.rgb.data(), half);
  EXPECT_EQ(masked.moments().pixels, first.moments().pixels);
  EXPECT_EQ(masked.estimate()->stain_od_rgb_he, first.estimate()->stain_od_rgb_he);
}

/// Beer–Lambert mixtures of two known stains with a concentration each: the plane and the extremes
/// are known.
TEST(StainEstimate, FindsThePlantedStains) {
  const double h[3] = {0.65, 0.70, 0.29}, e[3] = {0.09, 0.95, 0.28};
  std::mt19937 random(4);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::uint8_t> rgb;
  for (int i = 0; i < 200000; ++i) {
    // A share of nearly pure pixels of either, as nuclei and stroma are.
    const int kind = i % 3;
    const double ch = kind == 1 ? 0 : unit(random), ce = kind == 0 ? 0 : unit(random);
    for (int c = 0; c < 3; ++c) {
      const double v = 256 * std::pow(10, -(ch * h[c] + ce * e[c])) - 1;
      rgb.push_back(static_cast<std::uint8_t>(std::clamp(std::lround(v), 0l, 255l)));
    }
  }
  StainAccumulator sums;
  sums.add(rgb.data(), 200000);
  const auto got = sums.estimate();
  ASSERT_TRUE(got.has_value());
  const auto unit_of = [](const double* v) {
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  };
  std::vector<double> truth;
  for (int c = 0; c < 3; ++c) {
    truth.push_back(h[c] / unit_of(h));
    truth.push_back(e[c] / unit_of(e));
  }
  EXPECT_LT(angle_deg(got->stain_od_rgb_he, truth, 0), 1.0);
  EXPECT_LT(angle_deg(got->stain_od_rgb_he, truth, 1), 1.0);
  EXPECT_NEAR(got->max_concentration[0], 0.99 * unit_of(h), 0.03);
  EXPECT_NEAR(got->max_concentration[1], 0.99 * unit_of(e), 0.03);
}

TEST(StainEstimate, GlassAndSingleHuesGiveNothing) {
  EXPECT_FALSE(add_all(transform::fixtures::tissue_picture("almost-white-1.png"),
                       StainVariant::macenko_log10_any)
                   .estimate()
                   .has_value());
  const std::vector<std::uint8_t> one_hue(3 * 5000, 100);
  StainAccumulator sums;
  sums.add(one_hue.data(), 5000);
  EXPECT_EQ(sums.moments().pixels, 5000u);
  EXPECT_FALSE(sums.estimate().has_value());
  EXPECT_FALSE(StainAccumulator().estimate().has_value());
}

TEST(StainEstimate, OfDifferentVariantsAreNotAddedUp) {
  StainAccumulator a(StainVariant::macenko_ln_all);
  EXPECT_THROW(a.merge(StainAccumulator()), Error);
}

}  // namespace
}  // namespace headrace::pixels
