#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "learn/predict/slide/feret.hpp"

namespace headrace::predict {
namespace {

using pixels::Corner;

TEST(ConvexHull, LeavesOutWhatLiesInsideOrOnAnEdge) {
  const std::vector<Corner> square{{0, 0}, {2, 0}, {4, 0}, {4, 4}, {1, 1}, {0, 4}, {0, 2}, {0, 0}};
  const auto hull = convex_hull(square);
  EXPECT_EQ(hull.size(), 4u);
  for (const Corner& corner : {Corner{0, 0}, Corner{4, 0}, Corner{4, 4}, Corner{0, 4}})
    EXPECT_NE(std::find(hull.begin(), hull.end(), corner), hull.end());
}

TEST(ConvexHull, FewPointsAndLines) {
  EXPECT_TRUE(convex_hull({}).empty());
  EXPECT_EQ(convex_hull({{3, 5}, {3, 5}}).size(), 1u);
  EXPECT_EQ(convex_hull({{0, 0}, {3, 3}, {1, 1}, {2, 2}}).size(), 2u);
}

TEST(SquaredDiameter, IsThatOfAllPoints) {
  EXPECT_EQ(squared_diameter({}), 0u);
  EXPECT_EQ(squared_diameter({{7, 7}}), 0u);
  EXPECT_EQ(squared_diameter(convex_hull({{0, 0}, {3, 4}, {1, 1}})), 25u);
  std::uint32_t state = 1;
  const auto draw = [&] { return static_cast<std::int32_t>((state = state * 1664525 + 1) >> 25); };
  for (int round = 0; round < 50; ++round) {
    std::vector<Corner> points;
    for (int i = 0; i < 60; ++i) points.push_back({draw(), draw()});
    EXPECT_EQ(squared_diameter(convex_hull(points)), squared_diameter(points)) << round;
  }
}

TEST(SquaredDiameter, HoldsWholeSlides) {
  const std::int32_t far = 1 << 30;
  EXPECT_EQ(squared_diameter(convex_hull({{0, 0}, {far, far}, {far, 0}, {0, far}})),
            std::uint64_t{2} << 60);
}

}  // namespace
}  // namespace headrace::predict
