#include "learn/measure/volume/surface_distance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/measure/volume/distance_transform.hpp"
#include "learn/measure/volume/surface_area.hpp"
#include "tests/learn/measure/mask_fixture.hpp"

namespace headrace::measure {
namespace {

using fixtures::Lcg;
using fixtures::mask_of;
using fixtures::Shape;

TEST(SquaredDistances, EqualTheNearestOfAllSetPlaces) {
  const std::array<double, 3> spacing{2.5, 0.8, 1.1};
  for (const Shape& shape : {Shape{1, 1, 7}, Shape{5, 1, 1}, Shape{6, 9, 8}, Shape{1, 12, 5}}) {
    for (const int percent : {2, 30, 90}) {
      Lcg random(static_cast<std::uint64_t>(percent));
      std::vector<std::uint8_t> set(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
      for (auto& place : set) place = random.next() % 100 < static_cast<unsigned>(percent);
      const auto found = squared_distances(set, shape, spacing);
      const auto place = [&](std::size_t i) {
        const auto n = static_cast<std::int64_t>(i);
        return Shape{n / (shape[1] * shape[2]), n / shape[2] % shape[1], n % shape[2]};
      };
      for (std::size_t i = 0; i < set.size(); ++i) {
        double nearest = INFINITY;
        for (std::size_t j = 0; j < set.size(); ++j) {
          if (set[j] == 0) continue;
          double sum = 0;
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const double apart =
                static_cast<double>(place(i)[axis] - place(j)[axis]) * spacing[axis];
            sum += apart * apart;
          }
          nearest = std::min(nearest, sum);
        }
        if (std::isinf(nearest)) {
          EXPECT_TRUE(std::isinf(found[i]));
        } else {
          EXPECT_NEAR(found[i], nearest, 1e-12 * (1 + nearest));
        }
      }
    }
  }
}

TEST(SurfaceAreas, AFlatFaceIsTheFaceAndACornerTheTriangle) {
  const std::array<double, 3> mm{3, 2, 0.5};
  const auto areas = surface_areas(mm);
  EXPECT_DOUBLE_EQ(areas[0b11110000], 2 * 0.5);  // the upper slice set: its face in y and x
  EXPECT_DOUBLE_EQ(areas[0b11001100], 3 * 0.5);
  EXPECT_DOUBLE_EQ(areas[0b10101010], 3 * 2.0);
  // One voxel: the triangle through the middles of three edges.
  const double a = 1.5, b = 1, c = 0.25;
  const double corner = 0.5 * std::sqrt(a * a * b * b + b * b * c * c + a * a * c * c);
  for (int bit = 0; bit < 8; ++bit) EXPECT_NEAR(areas[std::size_t{1} << bit], corner, 1e-12);
  for (std::size_t code = 0; code < 256; ++code) EXPECT_EQ(areas[code], areas[255 - code]) << code;
  EXPECT_EQ(areas[0], 0);
}

TEST(SurfaceDistances, OfABoxMovedByTwoVoxels) {
  // Two boxes of 6 × 6 × 6 voxels of 1 × 1 × 2 mm, 2 voxels apart along x. Each has 7³ - 5³ surface
  // elements. Of the face that moved, 4 mm; of those beside it, up to 4 mm.
  const Shape shape{10, 10, 20};
  const auto box = [&](std::int64_t x0) {
    return mask_of(shape, [=](auto z, auto y, auto x) {
      return z >= 2 && z < 8 && y >= 2 && y < 8 && x >= x0 && x < x0 + 6;
    });
  };
  const auto distances = surface_distances(box(4), box(6), {1, 1, 2});
  EXPECT_EQ(distances.truth.size(), 343u - 125u);
  EXPECT_EQ(distances.truth.back().distance_mm, 4);
  EXPECT_EQ(distances.predicted.back().distance_mm, 4);
  EXPECT_EQ(robust_hausdorff_mm(distances, 1.0), 4);
  EXPECT_DOUBLE_EQ(*surface_dice(distances, 4), 1);
  EXPECT_LT(*surface_dice(distances, 3.9), 1);
  EXPECT_GT(*surface_dice(distances, 0), 0.4);  // the four sides overlap over two thirds
}

TEST(SurfaceDistances, AreTheSameForAShiftedPairAndTurnRoundWithTheMasks) {
  const Shape shape{14, 16, 70};
  Lcg random(5);
  std::vector<double> noise(static_cast<std::size_t>(6 * 7 * 9 * 2));
  for (double& value : noise) value = random.uniform();
  const auto blob = [&](std::int64_t dz, std::int64_t dy, std::int64_t dx, std::size_t which) {
    return mask_of(shape, [&, dz, dy, dx, which](auto z, auto y, auto x) {
      z -= dz, y -= dy, x -= dx;
      if (z < 0 || z >= 6 || y < 0 || y >= 7 || x < 0 || x >= 9) return false;
      return noise[static_cast<std::size_t>((z * 7 + y) * 9 + x) * 2 + which] < 0.4;
    });
  };
  const std::array<double, 3> mm{2, 1, 0.7};
  const auto here = surface_distances(blob(0, 0, 0, 0), blob(0, 0, 0, 1), mm);
  const auto there = surface_distances(blob(8, 9, 61, 0), blob(8, 9, 61, 1), mm);
  const auto turned = surface_distances(blob(3, 2, 60, 1), blob(3, 2, 60, 0), mm);
  for (const double tolerance : {0.0, 0.7, 1.0, 2.0}) {
    EXPECT_EQ(surface_dice(here, tolerance), surface_dice(there, tolerance));
    EXPECT_NEAR(*surface_dice(here, tolerance), *surface_dice(turned, tolerance), 1e-14);
  }
  EXPECT_EQ(robust_hausdorff_mm(here, 0.95), robust_hausdorff_mm(there, 0.95));
  EXPECT_EQ(robust_hausdorff_mm(here, 0.95), robust_hausdorff_mm(turned, 0.95));
}

TEST(SurfaceDistances, EqualMasksAndEmptyOnes) {
  const Shape shape{5, 6, 7};
  const auto none = mask_of(shape, [](auto...) { return false; });
  const auto all = mask_of(shape, [](auto...) { return true; });
  const auto same = surface_distances(all, all, {1, 1, 1});
  EXPECT_EQ(surface_dice(same, 0), 1);
  EXPECT_EQ(robust_hausdorff_mm(same, 0.95), 0);
  EXPECT_FALSE(surface_dice(surface_distances(none, none, {1, 1, 1}), 2));
  EXPECT_FALSE(robust_hausdorff_mm(surface_distances(none, none, {1, 1, 1}), 0.95));
  for (const auto& one :
       {surface_distances(all, none, {1, 1, 1}), surface_distances(none, all, {1, 1, 1})}) {
    EXPECT_EQ(surface_dice(one, 2), 0);
    EXPECT_FALSE(robust_hausdorff_mm(one, 0.95));
  }
}

}  // namespace
}  // namespace headrace::measure
