// Every voxel order of one body comes to the same canonical grid, and back.
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "tests/imaging/axis_orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace headrace::imaging {
namespace {

constexpr double kDegree = 0.017453292519943295;

/// Turns about z, then y, then x.
std::array<double, 9> turned(double x_deg, double y_deg, double z_deg) {
  const double a = x_deg * kDegree, b = y_deg * kDegree, c = z_deg * kDegree;
  return {std::cos(b) * std::cos(c),
          -std::cos(b) * std::sin(c),
          std::sin(b),
          std::sin(a) * std::sin(b) * std::cos(c) + std::cos(a) * std::sin(c),
          -std::sin(a) * std::sin(b) * std::sin(c) + std::cos(a) * std::cos(c),
          -std::sin(a) * std::cos(b),
          -std::cos(a) * std::sin(b) * std::cos(c) + std::sin(a) * std::sin(c),
          std::cos(a) * std::sin(b) * std::sin(c) + std::sin(a) * std::cos(c),
          std::cos(a) * std::cos(b)};
}

/// Axis lengths and spacings that are all different.
VolumeGrid body(const std::array<double, 9>& direction) {
  return VolumeGrid::of({4, 5, 7}, {0.7, 0.9, 2.5}, {-11.3, 20.9, 301.7}, direction);
}

/// As the NIfTI reader gives it: spacing and columns in float32, the columns made unit vectors.
VolumeGrid in_float32(const VolumeGrid& grid) {
  VolumeGrid columns;
  for (std::size_t i = 0; i < 16; ++i)
    columns.affine_lps[i] = static_cast<float>(grid.affine_lps[i]);
  const auto mm = [&](int column) -> double { return static_cast<float>(grid.spacing_mm(column)); };
  return VolumeGrid::of(grid.shape_zyx, {mm(0), mm(1), mm(2)}, columns.origin_lps_mm(),
                        columns.direction_lps());
}

void expect_same_body(const VolumeGrid& a, const VolumeGrid& b) {
  EXPECT_EQ(a.shape_zyx, b.shape_zyx);
  EXPECT_EQ(tidy_spacing_mm_zyx(a), tidy_spacing_mm_zyx(b));  // to the last bit
  for (int i = 0; i < 16; ++i) EXPECT_NEAR(a.affine_lps[i], b.affine_lps[i], 1e-4) << i;
}

TEST(CanonicalGrid, AllOrdersOfABodyBecomeOne) {
  for (const auto& angles : {Vec3{0, 0, 0}, Vec3{12, -7, 3}, Vec3{-30, 20, 25}, Vec3{0, 0, 44}}) {
    const VolumeGrid expected = body(turned(angles[0], angles[1], angles[2]));
    for (const AxisMap& order : all_orders()) {
      const VolumeGrid file = reordered(expected, order);
      for (const VolumeGrid& stated : {file, in_float32(file)}) {
        const CanonicalGrid found = canonical_grid(stated);
        expect_same_body(found.grid, expected);
        for (int j = 0; j < 3; ++j) EXPECT_GT(found.grid.affine_lps[5 * j], 0);
      }
    }
  }
}

TEST(CanonicalGrid, BetweenTwoAxesTheBodyDecidesAndNotTheFile) {
  for (const auto& angles : {Vec3{45, 0, 0}, Vec3{0, -45, 0}, Vec3{0, 0, 45}, Vec3{0, 0, 135}}) {
    const VolumeGrid some = body(turned(angles[0], angles[1], angles[2]));
    const VolumeGrid expected = canonical_grid(some).grid;
    for (const AxisMap& order : all_orders()) {
      expect_same_body(canonical_grid(reordered(some, order)).grid, expected);
      expect_same_body(canonical_grid(in_float32(reordered(some, order))).grid, expected);
    }
  }
}

TEST(CanonicalGrid, AnAxialScanStaysAsItIs) {
  const VolumeGrid scan = body({1, 0, 0, 0, 1, 0, 0, 0, 1});
  const CanonicalGrid found = canonical_grid(scan);
  EXPECT_TRUE(found.from_file.identity());
  EXPECT_EQ(found.grid.affine_lps, scan.affine_lps);
}

TEST(CanonicalGrid, NoZeroIsNegative) {
  for (const AxisMap& order : all_orders()) {
    const VolumeGrid file = reordered(body({1, 0, 0, 0, 1, 0, 0, 0, 1}), order);
    for (const double value : canonical_grid(file).grid.affine_lps)
      EXPECT_FALSE(value == 0 && std::signbit(value));
  }
}

TEST(CanonicalGrid, VoxelsKeepTheirPlaceInThePatientAndFindTheirWayBack) {
  const VolumeGrid expected = body(turned(9, -14, 22));
  for (const AxisMap& order : all_orders()) {
    const VolumeGrid file = reordered(expected, order);
    const CanonicalGrid canonical = canonical_grid(file);
    const auto count = static_cast<std::size_t>(file.voxels());
    std::vector<std::int16_t> stored(count), there(count, -1), back(count, -1);
    std::iota(stored.begin(), stored.end(), std::int16_t{0});
    const VoxelPlaces places = places_of(canonical.from_file, canonical.grid.shape_zyx);
    for (std::int64_t z = 0; z < file.shape_zyx[0]; ++z) {
      put_slice(stored.data() + z * file.slice_voxels(), file, z, places, there.data());
    }
    for (std::int64_t z = 0; z < file.shape_zyx[0]; ++z) {
      slice_in_file_order(there.data(), file, z, places, back.data() + z * file.slice_voxels());
    }
    EXPECT_EQ(back, stored);
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const std::int64_t width = canonical.grid.shape_zyx[2], slice = canonical.grid.slice_voxels();
      const Vec3 index = file.to_index(canonical.grid.to_lps_mm(
          static_cast<double>(at % width), static_cast<double>(at % slice / width),
          static_cast<double>(at / slice)));
      const auto in_file = (std::llround(index[2]) * file.shape_zyx[1] + std::llround(index[1])) *
                               file.shape_zyx[2] +
                           std::llround(index[0]);
      ASSERT_EQ(there[i], stored[static_cast<std::size_t>(in_file)]) << i;
    }
  }
}

TEST(TidySpacing, IsTheShortestDecimalOfItsFloat) {
  EXPECT_EQ(tidy_spacing_mm(static_cast<double>(0.7f)), 0.7);
  EXPECT_EQ(tidy_spacing_mm(0.7), 0.7);
  EXPECT_EQ(tidy_spacing_mm(std::nextafter(0.7, 1)), 0.7);
  // Fields of view of whole millimetres over 512 pixels, as decimals and as float32.
  for (int fov = 100; fov <= 700; ++fov) {
    const double mm = fov / 512.0;
    EXPECT_NEAR(tidy_spacing_mm(mm), mm, 6e-8 * mm) << fov;
    EXPECT_EQ(tidy_spacing_mm(static_cast<float>(mm)), tidy_spacing_mm(mm)) << fov;
    EXPECT_EQ(tidy_spacing_mm(mm * (1 - 4e-16)), tidy_spacing_mm(mm)) << fov;
  }
  for (int i = 1; i < 80000; i += 7) {
    const double mm = i / 10000.0, tidy = tidy_spacing_mm(mm);
    EXPECT_EQ(tidy, mm);
    EXPECT_EQ(tidy_spacing_mm(static_cast<float>(mm)), tidy);
    EXPECT_EQ(tidy_spacing_mm(mm * (1 + 4e-16)), tidy);
    EXPECT_EQ(tidy_spacing_mm(tidy), tidy);
  }
  EXPECT_NEAR(tidy_spacing_mm(1 / 3.0), 1 / 3.0, 6e-8 / 3);
}

}  // namespace
}  // namespace headrace::imaging
