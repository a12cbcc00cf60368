#include "learn/inference/volume/original_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "tests/learn/measure/mask_fixture.hpp"

namespace headrace::inference {
namespace {

using measure::fixtures::Lcg;
using Axes = OriginalGrid::Axes;

struct Field {
  std::size_t classes;
  Axes shape;
  std::vector<float> values;  ///< (z, classes, y, x): slices as they are given
  float at(std::size_t c, std::int64_t z, std::int64_t y, std::int64_t x) const {
    const std::size_t slice = static_cast<std::size_t>(shape[1] * shape[2]);
    return values[(static_cast<std::size_t>(z) * classes + c) * slice +
                  static_cast<std::size_t>(y * shape[2] + x)];
  }
};

Field random_field(std::uint64_t seed, std::size_t classes, const Axes& shape) {
  Lcg random(seed);
  Field out{classes, shape, {}};
  for (std::int64_t i = 0; i < shape[0] * shape[1] * shape[2] * static_cast<std::int64_t>(classes);
       ++i)
    out.values.push_back(static_cast<float>(0.01 + random.uniform()));
  return out;
}

Field on_level0(const Field& field, const Axes& shape, const std::array<double, 3>& step) {
  Field out{field.classes, shape, {}};
  std::int64_t expected = 0;
  OriginalGrid grid(field.classes, field.shape, shape, step, [&](std::int64_t z, auto slice) {
    EXPECT_EQ(z, expected++);
    out.values.insert(out.values.end(), slice.begin(), slice.end());
  });
  const std::size_t values =
      field.classes * static_cast<std::size_t>(field.shape[1] * field.shape[2]);
  for (std::int64_t z = 0; z < field.shape[0]; ++z) {
    EXPECT_FALSE(grid.complete());
    grid.add({field.values.data() + static_cast<std::size_t>(z) * values, values});
  }
  EXPECT_TRUE(grid.complete());
  EXPECT_EQ(expected, shape[0]);
  return out;
}

/// Linear between the two voxels around a place, by the definition and in double.
double between(const Field& field, std::size_t c, std::array<double, 3> at) {
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    Axes voxel{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto last = static_cast<double>(field.shape[axis] - 1);
      const double place = std::clamp(at[axis], 0.0, last), low = std::floor(place);
      const bool up = (corner >> axis & 1) != 0;
      weight *= up ? place - low : 1 - (place - low);
      voxel[axis] = static_cast<std::int64_t>(std::min(low + (up ? 1 : 0), last));
    }
    sum += weight * static_cast<double>(field.at(c, voxel[0], voxel[1], voxel[2]));
  }
  return sum;
}

TEST(OriginalGrid, IsLinearBetweenVoxelCentres) {
  struct Case {
    Axes patch, level0;
    std::array<double, 3> step;
  };
  for (const Case& c : {Case{{5, 6, 7}, {10, 24, 14}, {2, 4, 2}},       // finer than the patch
                        Case{{9, 12, 11}, {9, 5, 4}, {1, 0.4, 0.37}},   // coarser
                        Case{{4, 7, 5}, {11, 9, 8}, {2.9, 1.3, 1.61}},  // the last voxel in part
                        Case{{1, 1, 1}, {3, 2, 4}, {5, 5, 5}}}) {
    const Field field = random_field(7, 3, c.patch), found = on_level0(field, c.level0, c.step);
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::int64_t z = 0; z < c.level0[0]; ++z) {
        for (std::int64_t y = 0; y < c.level0[1]; ++y) {
          for (std::int64_t x = 0; x < c.level0[2]; ++x) {
            const auto place = [&](std::int64_t j, std::size_t axis) {
              return (static_cast<double>(j) + 0.5) / c.step[axis] - 0.5;
            };
            EXPECT_NEAR(found.at(k, z, y, x),
                        between(field, k, {place(z, 0), place(y, 1), place(x, 2)}), 1e-6);
          }
        }
      }
    }
  }
}

TEST(OriginalGrid, OfTheSameGridChangesNoBit) {
  const Field field = random_field(3, 4, {6, 5, 9});
  EXPECT_EQ(on_level0(field, field.shape, {1, 1, 1}).values, field.values);
}

TEST(OriginalGrid, ProbabilitiesStillSumUpToOne) {
  Field field = random_field(5, 2, {6, 5, 9});
  const std::size_t slice = 5 * 9;
  for (std::size_t i = 0; i < field.values.size(); ++i) {
    if (i / slice % 2 == 1) field.values[i] = 1 - field.values[i - slice];
  }
  const Field found = on_level0(field, {17, 13, 20}, {2.8, 2.6, 2.2});
  for (std::int64_t z = 0; z < 17; ++z)
    EXPECT_NEAR(found.at(0, z, 4, 7) + found.at(1, z, 4, 7), 1, 1e-6);
}

TEST(OriginalGrid, WhereNoWindowLayIsBackground) {
  Field field = random_field(9, 3, {4, 4, 4});
  for (std::size_t z = 0; z < 4; ++z) {
    for (std::size_t c = 0; c < 3; ++c) field.values[(z * 3 + c) * 16 + 5] = 0;  // y 1, x 1
  }
  const Field found = on_level0(field, {8, 8, 8}, {2, 2, 2});
  const Field same = on_level0(field, {4, 4, 4}, {1, 1, 1});
  EXPECT_EQ(same.at(0, 2, 1, 1), 1);
  EXPECT_EQ(same.at(1, 2, 1, 1), 0);
  EXPECT_EQ(same.at(2, 2, 1, 1), 0);
  EXPECT_GT(found.at(0, 5, 2, 2), 0.5);
}

TEST(OriginalGrid, MoreSlicesThanTheVolumeHasAreRefused) {
  OriginalGrid grid(1, {1, 1, 1}, {2, 1, 1}, {2, 1, 1}, [](auto, auto) {});
  const float p = 1;
  grid.add({&p, 1});
  EXPECT_THROW(grid.add({&p, 1}), Error);
}

}  // namespace
}  // namespace headrace::inference
