#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "headrace/transform/volume/place_volume.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "volume_case.hpp"

namespace headrace::transform {
namespace {

using fixtures::VolumeResult;
using fixtures::VolumeSample;
using fixtures::VolumeSetting;
using Values = std::vector<double>;

const std::array<std::int32_t, 3> kSize{18, 23, 37};

Values run(const std::vector<VolumeTransformSpec>& specs, std::uint64_t index = 5) {
  const VolumeSample sample(
      {"", specs, {kSize, {1.5, 1.5, 1.5}}, {35.2, 44.7, 55.1}, {1.5, 1.5, 1.5}}, index);
  const VolumeResult r = sample.run();
  return {r.image.begin(), r.image.end()};
}
double mean(const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0) / double(v.size()); }
double deviation(const Values& v) {
  const double m = mean(v);
  double sum = 0;
  for (const double x : v) sum += (x - m) * (x - m);
  return std::sqrt(sum / double(v.size()));
}
void expect_near(const Values& found, const Values& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  EXPECT_LT(worst, tolerance);
}
Values mapped(Values v, const std::function<double(double)>& f) {
  for (double& x : v) x = f(x);
  return v;
}

const WindowHuSpec kWindow{-160, 240};

TEST(VolumeIntensity, OperationsSeeAChannelInItsUnit) {
  const auto in_suv = [](const std::vector<VolumeTransformSpec>& specs,
                         std::array<double, 3> centre = {35.2, 44.7, 55.1}) {
    const VolumeSample sample({"",
                               specs,
                               {kSize, {1.5, 1.5, 1.5}},
                               centre,
                               {1.5, 1.5, 1.5},
                               {"PET", 1, IntensityUnit::suv}},
                              5);
    const VolumeResult r = sample.run();
    return Values{r.image.begin(), r.image.end()};
  };
  const Values stored = run({}), suv = mapped(stored, [](double v) { return v / 100; });
  expect_near(in_suv({}), suv, 1e-6);
  const auto windowed = mapped(suv, [](double v) { return std::clamp((v + 1) / 3, 0.0, 1.0); });
  expect_near(in_suv({WindowSuvSpec{-1, 2}}), windowed, 1e-6);
  expect_near(in_suv({WindowHuSpec{0, 1}, WindowSuvSpec{-1, 2, "PET"}}), windowed, 1e-6);
  expect_near(run({WindowHuSpec{}, WindowSuvSpec{}}), run({WindowHuSpec{}}), 1e-30);
  const auto patient = fixtures::some_patient();
  expect_near(in_suv({VolumeNormalizeSpec{NormalizeMethod::zscore, 0, 1}}),
              mapped(suv, [&](double v) { return (v - patient.mean) / patient.std; }), 1e-6);
  // No voxel of the level: no uptake.
  for (const double v : in_suv({}, {-500, 0, 0})) ASSERT_EQ(v, 0);
}

TEST(VolumeIntensity, WindowsClipsAndNormalises) {
  const Values hu = run({});
  const auto patient = fixtures::some_patient(), foreground = fixtures::some_foreground();
  expect_near(run({kWindow}),
              mapped(hu, [](double v) { return std::clamp((v + 160) / 400, 0.0, 1.0); }), 1e-6);
  expect_near(run({ClipPercentilesSpec{}}),
              mapped(hu, [&](double v) { return std::clamp(v, patient.low, patient.high); }), 1e-9);
  expect_near(run({ClipPercentilesSpec{PercentilesOf::foreground},
                   VolumeNormalizeSpec{NormalizeMethod::zscore, 0, 1}}),
              mapped(hu,
                     [&](double v) {
                       return (std::clamp(v, foreground.low, foreground.high) - patient.mean) /
                              patient.std;
                     }),
              1e-5);
  expect_near(run({VolumeNormalizeSpec{NormalizeMethod::foreground, 0, 1}}),
              mapped(hu,
                     [&](double v) {
                       return (std::clamp(v, foreground.low, foreground.high) - foreground.mean) /
                              foreground.std;
                     }),
              1e-5);
  expect_near(run({VolumeNormalizeSpec{NormalizeMethod::fixed, 50, 200}}),
              mapped(hu, [](double v) { return (v - 50) / 200; }), 1e-5);
  expect_near(run({VolumeNormalizeSpec{}}), hu, 1e-9);
}

TEST(VolumeIntensity, BrightnessAndContrastAreThoseOfTheModel) {
  const Values v = run({kWindow});
  expect_near(run({kWindow, VolumeBrightnessSpec{{1.2, 1.2}}}),
              mapped(v, [](double x) { return x * 1.2; }), 1e-6);
  const double m = mean(v);
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  for (const double factor : {0.6, 1.7}) {
    const auto about = [&](double x) { return (x - m) * factor + m; };
    VolumeContrastSpec contrast{{factor, factor}, 1, true};
    expect_near(run({kWindow, contrast}),
                mapped(v, [&](double x) { return std::clamp(about(x), *low, *high); }), 2e-6);
    contrast.preserve_range = false;
    expect_near(run({kWindow, contrast}), mapped(v, about), 2e-6);
  }
}

TEST(VolumeIntensity, GammaIsThatOfTheModelInBothSenses) {
  const Values v = run({VolumeNormalizeSpec{NormalizeMethod::foreground, 0, 1}});
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  const double range = *high - *low;
  for (const double g : {0.5, 0.7, 1.5, 3.0}) {
    VolumeGammaSpec gamma{{g, g}, 1};
    const std::vector<VolumeTransformSpec> list{
        VolumeNormalizeSpec{NormalizeMethod::foreground, 0, 1}, gamma};
    expect_near(run(list),
                mapped(v, [&](double x) { return std::pow((x - *low) / range, g) * range + *low; }),
                2e-4);
    gamma.invert = true;
    expect_near(
        run({list[0], gamma}),
        mapped(v, [&](double x) { return *high - std::pow((*high - x) / range, g) * range; }),
        2e-4);
  }
}

TEST(VolumeIntensity, RetainedStatisticsAreThoseBefore) {
  const std::vector<VolumeTransformSpec> before{kWindow};
  const Values v = run(before);
  for (const bool invert : {false, true}) {
    const Values after = run({kWindow, VolumeGammaSpec{{1.8, 1.8}, 1, invert, true}});
    const Values plain = run({kWindow, VolumeGammaSpec{{1.8, 1.8}, 1, invert, false}});
    EXPECT_NEAR(mean(after), mean(v), 1e-5);
    EXPECT_NEAR(deviation(after), deviation(v), 1e-5);
    EXPECT_GT(std::abs(mean(plain) - mean(v)), 0.02);
    const double scale = deviation(v) / deviation(plain);
    expect_near(after, mapped(plain, [&](double x) { return (x - mean(plain)) * scale + mean(v); }),
                1e-5);
  }
}

TEST(VolumeIntensity, AFlatPatchStaysFiniteAndFlat) {
  const std::vector<VolumeTransformSpec> list{
      VolumeNormalizeSpec{NormalizeMethod::fixed, 0, 1}, VolumeContrastSpec{{1.5, 1.5}, 1},
      VolumeGammaSpec{{0.7, 0.7}, 1, false, true}, VolumeGammaSpec{{0.7, 0.7}, 1, true, true}};
  const VolumeSample sample({"", list, {kSize, {1, 1, 1}}, {-300, -300, -300}, {1, 1, 1}});
  for (const float v : sample.run().image) ASSERT_EQ(v, -1024.0f);
}

/// Far from 0 as HU are: what the sums in float may lose stays below 1e-6 of the value.
TEST(VolumeIntensity, StatisticsAreThoseInDouble) {
  for (const double offset : {0.0, -20000.0}) {
    std::vector<VolumeTransformSpec> list{VolumeNormalizeSpec{NormalizeMethod::fixed, offset, 1}};
    const Values v = run(list);
    list.push_back(VolumeContrastSpec{{0, 0}, 1, false});
    for (const double x : run(list)) ASSERT_NEAR(x, mean(v), 1e-6 * std::abs(mean(v)) + 1e-4);
  }
}

TEST(VolumeIntensity, NoiseIsWhiteNormalAndOfItsSigma) {
  const std::vector<VolumeTransformSpec> plain{
      VolumeNormalizeSpec{NormalizeMethod::fixed, 0, 1000}};
  const Values v = run(plain);
  std::vector<Values> all;
  for (std::uint64_t index = 0; index < 12; ++index) {
    Values n = run({plain[0], VolumeNoiseSpec{{0.25, 0.25}, 1, index % 2 == 1}}, index);
    const double sigma = index % 2 == 1 ? 0.5 : 0.25;  // a variance of 0.25 is a sigma of 0.5
    for (std::size_t i = 0; i < n.size(); ++i) n[i] = (n[i] - v[i]) / sigma;
    all.push_back(n);
  }
  const double count = double(v.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_NEAR(mean(all[k]), 0, 4 / std::sqrt(count));
    EXPECT_NEAR(deviation(all[k]), 1, 4 / std::sqrt(2 * count));
    double fourth = 0, other = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      fourth += std::pow(all[k][i], 4) / count;
      other += all[k][i] * all[(k + 2) % all.size()][i] / count;
    }
    EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96 / count));
    EXPECT_NEAR(other, 0, 4 / std::sqrt(count));
    for (const std::size_t lag : {1u, 8u, 32u, 37u, 37u * 23u}) {
      double sum = 0;
      for (std::size_t i = lag; i < v.size(); ++i) sum += all[k][i] * all[k][i - lag];
      EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count)) << lag;
    }
  }
}

std::size_t at(std::int32_t z, std::int32_t y, std::int32_t x) {
  return static_cast<std::size_t>((z * kSize[1] + y) * kSize[2] + x);
}
int reflected(int i, int n) {
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

TEST(VolumeIntensity, BlurIsAGaussianOfThreeAxes) {
  for (const double sigma : {0.6, 1.0, 3.0}) {
    Values v = run({kWindow});
    const int radius = int(4 * sigma + 0.5);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Values out(v.size());
      for (int z = 0; z < kSize[0]; ++z)
        for (int y = 0; y < kSize[1]; ++y)
          for (int x = 0; x < kSize[2]; ++x) {
            double sum = 0, weights = 0;
            for (int k = -radius; k <= radius; ++k) {
              int c[3] = {z, y, x};
              c[axis] = reflected(c[axis] + k, kSize[axis]);
              const double w = std::exp(-0.5 * k * k / sigma / sigma);
              sum += w * v[at(c[0], c[1], c[2])];
              weights += w;
            }
            out[at(z, y, x)] = sum / weights;
          }
      v = out;
    }
    expect_near(run({kWindow, VolumeBlurSpec{{sigma, sigma}, 1}}), v, 2e-6);
  }
}

/// As torch's interpolate: nearest-exact to the reduced size, and back trilinear without aligned
/// corners.
TEST(VolumeIntensity, LowResolutionIsNearestThereAndLinearBack) {
  const Values v = run({kWindow});
  for (const double scale : {0.5, 0.73, 1.0}) {
    int small[3];
    for (int i = 0; i < 3; ++i) small[i] = int(std::nearbyint(kSize[i] * scale));
    const auto reduced = [&](int z, int y, int x) {
      const int c[3] = {z, y, x};
      int full[3];
      for (int i = 0; i < 3; ++i) full[i] = int(std::floor((c[i] + 0.5) * kSize[i] / small[i]));
      return v[at(full[0], full[1], full[2])];
    };
    Values out;
    for (int z = 0; z < kSize[0]; ++z)
      for (int y = 0; y < kSize[1]; ++y)
        for (int x = 0; x < kSize[2]; ++x) {
          const int c[3] = {z, y, x};
          int low[3], high[3];
          double t[3], sum = 0;
          for (int i = 0; i < 3; ++i) {
            const double p =
                std::clamp((c[i] + 0.5) * small[i] / kSize[i] - 0.5, 0.0, small[i] - 1.0);
            low[i] = int(p);
            high[i] = std::min(low[i] + 1, small[i] - 1);
            t[i] = p - low[i];
          }
          for (int k = 0; k < 8; ++k) {
            const bool a = k & 4, b = k & 2, d = k & 1;
            sum += (a ? t[0] : 1 - t[0]) * (b ? t[1] : 1 - t[1]) * (d ? t[2] : 1 - t[2]) *
                   reduced(a ? high[0] : low[0], b ? high[1] : low[1], d ? high[2] : low[2]);
          }
          out.push_back(sum);
        }
    expect_near(run({kWindow, LowResolutionSpec{{scale, scale}, 1}}), out, 5e-6);
  }
}

// ---- anti-aliasing ---------------------------------------------------------------------------

Values stripes(double spacing, double scale, bool along_x) {
  fixtures::VolumeLevel level({40, 60, 160});
  for (int z = 0; z < 40; ++z)
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 160; ++x)
        level.hu[level.at(z, y, x)] =
            static_cast<std::int16_t>(((along_x ? x : y) % 2 == 0 ? 1000 : -1000) + 100);
  VolumeAffineSpec affine;
  affine.scale = {scale, scale};
  const VolumeSample sample(
      {"stripes", {affine}, {{4, 12, 40}, {1, 1, spacing}}, {20, 30, 80}, {1, 1, 1}});
  const VolumeResult r = sample.run(level);
  return {r.image.begin(), r.image.end()};
}
double contrast(const Values& v) {
  return *std::max_element(v.begin(), v.end()) - *std::min_element(v.begin(), v.end());
}

/// A pattern finer than the output can show turns grey instead of folding down; one axis alone.
TEST(VolumeIntensity, AliasesAreSmoothedAwayAboveAReductionOfOneAndAHalf) {
  EXPECT_GT(contrast(stripes(1.5, 1, true)), 900);  // not above 1.5: linear alone
  EXPECT_LT(contrast(stripes(3.5, 1, true)), 12);
  EXPECT_GT(contrast(stripes(3.5, 1, false)), 1900);  // y keeps its spacing
  EXPECT_LT(contrast(stripes(1.4, 0.4, true)), 12);   // the affine's scale counts
  EXPECT_GT(contrast(stripes(3.5, 3, true)), 1000);
  EXPECT_NEAR(mean(stripes(3.5, 1, true)), 100, 1);
}

/// Against the formula in double: sigma = (reduction - 1) / 2, cut at 4 sigma, the border repeated.
TEST(VolumeIntensity, SmoothingIsTheStatedGaussian) {
  const auto& level = fixtures::volume_level();
  const double reduction = 2.6, sigma = (reduction - 1) / 2;
  const VolumeSample sample(
      {"", {}, {{10, 10, 14}, {1, 1, reduction}}, {30, 40, 20 + 7 * reduction}, {1, 1, 1}});
  const VolumeResult r = sample.run();
  const int radius = int(4 * sigma + 0.5);
  const auto smooth = [&](int z, int y, int x) {
    double sum = 0, weights = 0;
    for (int k = -radius; k <= radius; ++k) {
      const double w = std::exp(-0.5 * k * k / sigma / sigma);
      sum += w * level.hu[level.at(z, y, std::clamp(x + k, 0, level.shape[2] - 1))];
      weights += w;
    }
    return sum / weights;
  };
  std::size_t i = 0;
  for (int z = 25; z < 35; ++z)
    for (int y = 35; y < 45; ++y)
      for (int x = 0; x < 14; ++x, ++i) {
        const double place = 20 + (x + 0.5) * reduction - 0.5;
        const int cell = int(std::floor(place));
        const double t = place - cell;
        // Half a unit of rounding to whole HU, and weights of 1/32768.
        ASSERT_NEAR(r.image[i], (1 - t) * smooth(z, y, cell) + t * smooth(z, y, cell + 1), 0.6);
      }
}

}  // namespace
}  // namespace headrace::transform
