#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "learn/predict/volume/axial_diameter.hpp"

namespace headrace::predict {
namespace {

using imaging::Vec3;
using imaging::VolumeGrid;
using Runs = std::vector<pixels::Run>;

constexpr std::array<double, 9> kUpright{1, 0, 0, 0, 1, 0, 0, 0, 1};

VolumeGrid upright(const Vec3& spacing_mm_xyz) {
  return VolumeGrid::of({8, 32, 32}, spacing_mm_xyz, {-10, 20, 30}, kUpright);
}

/// Turned about all three axes.
VolumeGrid oblique(const Vec3& spacing_mm_xyz) {
  const double a = std::numbers::pi / 7, b = std::numbers::pi / 5;
  const double ca = std::cos(a), sa = std::sin(a), cb = std::cos(b), sb = std::sin(b);
  // About z by a, then about x by b.
  return VolumeGrid::of({8, 32, 32}, spacing_mm_xyz, {7, -8, 9},
                        {ca, -sa, 0, cb * sa, cb * ca, -sb, sb * sa, sb * ca, cb});
}

TEST(AxialDiameter, OfADiagonalThroughVoxelsThatAreNotSquare) {
  // (y, x): (0, 0), (1, 1), (2, 2), (3, 3), and (0, 3) beside them; x 0.5 mm, y 2 mm.
  const Runs runs{{2, 0, 0, 1}, {2, 0, 3, 4}, {2, 1, 1, 2}, {2, 2, 2, 3}, {2, 3, 3, 4}};
  const AxialDiameter found = axial_diameter(runs, upright({0.5, 2, 5}));
  EXPECT_EQ(found.slice, 2);
  const double longest = std::sqrt(1.5 * 1.5 + 6.0 * 6.0);  // 3 · 0.5 mm and 3 · 2 mm
  EXPECT_DOUBLE_EQ(found.longest_mm, longest);
  EXPECT_EQ(found.ends_yx[0], (std::array<std::int64_t, 2>{0, 0}));
  EXPECT_EQ(found.ends_yx[1], (std::array<std::int64_t, 2>{3, 3}));
  // (1.5, 0) mm lies |1.5 · 6 - 0 · 1.5| / longest beside the line, everything else on it.
  EXPECT_DOUBLE_EQ(found.perpendicular_mm, 9 / longest);
}

TEST(AxialDiameter, OfARectangleTakesTheFirstDiagonalAndTheWholeWidthAcross) {
  const Runs runs{{0, 4, 6, 11}, {0, 5, 6, 11}, {0, 6, 6, 11}};  // 3 rows of 5
  const AxialDiameter found = axial_diameter(runs, upright({1, 1, 1}));
  EXPECT_DOUBLE_EQ(found.longest_mm, std::sqrt(20.0));
  EXPECT_EQ(found.ends_yx[0], (std::array<std::int64_t, 2>{4, 6}));
  EXPECT_EQ(found.ends_yx[1], (std::array<std::int64_t, 2>{6, 10}));
  EXPECT_DOUBLE_EQ(found.perpendicular_mm, 16 / std::sqrt(20.0));  // both other corners
}

TEST(AxialDiameter, IsOfOneSliceHoweverLongTheLesionIsAlongZ) {
  Runs runs;
  for (std::int32_t z = 0; z < 8; ++z) runs.push_back({z, 3, 5, z == 6 ? 9 : 7});
  const AxialDiameter found = axial_diameter(runs, upright({0.5, 1, 10}));
  EXPECT_EQ(found.slice, 6);
  EXPECT_DOUBLE_EQ(found.longest_mm, 1.5);  // between centres: 3 steps of 0.5 mm
  EXPECT_EQ(found.perpendicular_mm, 0);
}

TEST(AxialDiameter, OfSingleVoxelsIsNothingInTheLowestSlice) {
  const AxialDiameter found = axial_diameter(Runs{{3, 1, 2, 3}, {4, 1, 2, 3}}, upright({1, 1, 1}));
  EXPECT_EQ(found.slice, 3);
  EXPECT_EQ(found.longest_mm, 0);
  EXPECT_EQ(found.perpendicular_mm, 0);
  EXPECT_EQ(found.ends_yx[0], found.ends_yx[1]);
}

/// A lesion of random voxels of a box, as runs of one voxel.
Runs random_voxels(std::uint32_t seed, std::uint32_t part) {
  std::mt19937 random(seed);
  Runs runs;
  for (std::int32_t z = 1; z < 4; ++z) {
    for (std::int32_t y = 2; y < 17; ++y) {
      for (std::int32_t x = 3; x < 22; ++x) {
        if (random() % part == 0) runs.push_back({z, y, x, x + 1});
      }
    }
  }
  return runs;
}

/// By the definition: every pair of voxels of a slice.
double longest_by_pairs(const Runs& runs, const VolumeGrid& grid) {
  double best = 0;
  for (const pixels::Run& a : runs) {
    for (const pixels::Run& b : runs) {
      if (a.z != b.z) continue;
      const Vec3 p = grid.to_lps_mm(a.x0, a.y, a.z), q = grid.to_lps_mm(b.x0, b.y, b.z);
      best = std::max(best, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
    }
  }
  return best;
}

/// By the definition: places of the slice's voxels along the direction across.
double across_by_places(const Runs& runs, const AxialDiameter& found, const Vec3& spacing) {
  const double dx = static_cast<double>(found.ends_yx[1][1] - found.ends_yx[0][1]) * spacing[0];
  const double dy = static_cast<double>(found.ends_yx[1][0] - found.ends_yx[0][0]) * spacing[1];
  double low = INFINITY, high = -INFINITY;
  for (const pixels::Run& run : runs) {
    if (run.z != found.slice) continue;
    const double at = (run.y * spacing[1] * dx - run.x0 * spacing[0] * dy) / std::hypot(dx, dy);
    low = std::min(low, at);
    high = std::max(high, at);
  }
  return high - low;
}

TEST(AxialDiameter, IsThatOfAllPairsOnObliqueGridsToo) {
  const Vec3 spacing{0.7, 0.9, 2.5};
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const Runs runs = random_voxels(seed, 2 + seed);
    for (const VolumeGrid& grid : {upright(spacing), oblique(spacing)}) {
      const AxialDiameter found = axial_diameter(runs, grid);
      EXPECT_NEAR(found.longest_mm, longest_by_pairs(runs, grid), 1e-9) << seed;
      EXPECT_NEAR(found.perpendicular_mm, across_by_places(runs, found, spacing), 1e-9) << seed;
    }
  }
}

}  // namespace
}  // namespace headrace::predict
