#include <gtest/gtest.h>

#include "headrace/transform/volume/place_volume.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "volume_model.hpp"

namespace headrace::transform {
namespace {

using fixtures::near_tie;
using fixtures::nearest_label;
using fixtures::trilinear;
using fixtures::Vec3;
using fixtures::VolumeLevel;
using fixtures::VolumeModel;
using fixtures::VolumeResult;
using fixtures::VolumeSample;
using fixtures::VolumeSetting;

VolumeAffineSpec any_affine() {
  VolumeAffineSpec a;
  a.rotate_deg = {-180, 180};
  a.scale = {0.8, 1.25};
  a.shear_deg = {-8, 8};
  a.translate = 0.1;
  a.flip = true;
  return a;
}

/// Float coordinates err by some 1e-5 of a voxel, of values whose neighbours differ by up to 400.
void expect_model(const VolumeSetting& setting, std::uint64_t index, double tolerance = 0.02) {
  const VolumeSample sample(setting, index);
  const VolumeModel model(setting, *sample.params);
  const VolumeLevel& level = fixtures::volume_level();
  const VolumeResult result = sample.run();
  const auto& n = setting.patch.size_zyx;
  std::size_t i = 0, ties = 0;
  double worst = 0;
  for (int z = 0; z < n[0]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      for (int x = 0; x < n[2]; ++x, ++i) {
        const Vec3 at = model.place(z, y, x);
        worst = std::max(worst, std::abs(result.image[i] - trilinear(level, at)));
        if (near_tie(at)) {
          ++ties;
        } else {
          ASSERT_EQ(int(result.labels[i]), nearest_label(level, at, 255))
              << setting.name << " " << z << " " << y << " " << x;
        }
      }
    }
  }
  EXPECT_LT(worst, tolerance) << setting.name << " " << index;
  EXPECT_LT(double(ties), 0.02 * double(i));
}

TEST(VolumeGeometry, ResamplingIsThatOfTheModel) {
  expect_model({"resampled", {}}, 0);
  expect_model({"up", {}, {{20, 31, 33}, {1.0, 0.9, 0.7}}}, 0);
}
TEST(VolumeGeometry, AffineAndElasticAreThoseOfTheModel) {
  for (std::uint64_t index = 0; index < 6; ++index) {
    expect_model({"affine", {any_affine()}}, index);
    expect_model({"elastic", {VolumeElasticSpec{3, 6, 1}}}, index);
    expect_model({"both", {any_affine(), VolumeElasticSpec{5, 8, 1}}}, index);
    expect_model({"anisotropic",
                  {any_affine(), VolumeElasticSpec{4, 8, 1}},
                  {{12, 30, 28}, {3, 1.2, 1.0}},
                  {30, 40, 50},
                  {2.5, 1, 1}},
                 index);
  }
}
TEST(VolumeGeometry, BeyondTheLevelTheNearestVoxelAndTheOutsideLabelStand) {
  for (std::uint64_t index = 0; index < 4; ++index) {
    expect_model({"corner", {any_affine()}, {{24, 29, 37}, {1.5, 1.5, 1.5}}, {3, 85, 2}}, index);
    expect_model({"elastic corner",
                  {any_affine(), VolumeElasticSpec{5, 8, 1}},
                  {{24, 29, 37}, {1.5, 1.5, 1.5}},
                  {68, 4, 108}},
                 index);
  }
  const VolumeSample outside(
      {"outside", {}, {{8, 8, 8}, {1, 1, 1}}, {-300, -300, -300}, {1, 1, 1}});
  const VolumeResult r = outside.run();
  for (const float v : r.image) EXPECT_EQ(v, -1024.0f);
  for (const std::uint8_t l : r.labels) EXPECT_EQ(l, 255);
}

/// The same spacing, on whole voxels: a copy, and with flips a mirrored copy, to the bit.
TEST(VolumeGeometry, FlipsAreExact) {
  VolumeAffineSpec flip;
  flip.flip = true;
  const VolumeLevel& level = fixtures::volume_level();
  std::array<bool, 8> seen{};
  for (std::uint64_t index = 0; index < 40; ++index) {
    const VolumeSample sample(
        {"flip", {flip}, {{24, 28, 36}, {1.3, 0.7, 0.9}}, {30, 40, 50}, {1.3, 0.7, 0.9}}, index);
    std::array<bool, 3> flipped;
    for (std::size_t i = 0; i < 3; ++i) flipped[i] = sample.params->inverse.m[5 * i] < 0;
    seen[std::size_t(flipped[0]) * 4 + std::size_t(flipped[1]) * 2 + std::size_t(flipped[2])] =
        true;
    const VolumeResult r = sample.run();
    std::size_t i = 0;
    for (int z = 0; z < 24; ++z) {
      for (int y = 0; y < 28; ++y) {
        for (int x = 0; x < 36; ++x, ++i) {
          const std::size_t at =
              level.at(30 - 12 + (flipped[0] ? 23 - z : z), 40 - 14 + (flipped[1] ? 27 - y : y),
                       50 - 18 + (flipped[2] ? 35 - x : x));
          ASSERT_EQ(r.image[i], float(level.hu[at]));
          ASSERT_EQ(r.labels[i], level.label[at]);
        }
      }
    }
  }
  for (const bool s : seen) EXPECT_TRUE(s);
}

/// Level larger than any window, so that the window alone bounds what is read.
TEST(VolumeGeometry, NoCoordinateLeavesTheWindow) {
  const std::vector<VolumeSetting> settings{
      {"affine", {any_affine()}},
      {"elastic", {any_affine(), VolumeElasticSpec{6, 9, 1}}},
      {"fine", {VolumeElasticSpec{20, 4, 1}}},
      {"coarse", {VolumeElasticSpec{1, 30, 1}}, {{31, 16, 50}, {2, 1, 1}}, {0, 0, 0}, {1, 1, 1}},
      {"thin", {any_affine(), VolumeElasticSpec{4, 9, 1}}, {{1, 40, 40}, {3, 1, 1}}}};
  for (const VolumeSetting& setting : settings) {
    double slack = 0;
    for (std::uint64_t index = 0; index < 12; ++index) {
      const VolumeSample sample(setting, index);
      const VolumeModel model(setting, *sample.params);
      const auto smoothing = smoothing_of(*sample.params, sample.geometry.scale_zyx);
      Vec3 low{1e9, 1e9, 1e9}, high{-1e9, -1e9, -1e9};
      const auto& n = setting.patch.size_zyx;
      for (int z = 0; z < n[0]; ++z) {
        for (int y = 0; y < n[1]; ++y) {
          for (int x = 0; x < n[2];
               x += (z % 5 == 0 && y % 5 == 0) || x + 1 == n[2] ? 1 : n[2] - 1) {
            const Vec3 at = model.place(z, y, x);
            for (std::size_t i = 0; i < 3; ++i) {
              low[i] = std::min(low[i], at[i]);
              high[i] = std::max(high[i], at[i]);
            }
          }
        }
      }
      for (std::size_t i = 0; i < 3; ++i) {
        const double begin = double(sample.geometry.window.origin_zyx[i]) + smoothing[i].radius;
        const double end =
            double(sample.geometry.window.origin_zyx[i] + sample.geometry.window.size_zyx[i]) -
            smoothing[i].radius;
        EXPECT_LE(begin, std::floor(low[i])) << setting.name << index;
        EXPECT_GE(end, std::floor(high[i]) + 2) << setting.name << index;
        slack = std::max({slack, std::floor(low[i]) - begin, end - std::floor(high[i]) - 2});
      }
    }
    EXPECT_LE(slack, 5) << setting.name;  // nor is it much larger than it must be
  }
}

}  // namespace
}  // namespace headrace::transform
