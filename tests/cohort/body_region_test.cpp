/// The region around a body, against sums over all voxels.
#include "headrace/cohort/body_region.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace headrace::cohort {
namespace {

/// Blocks of 16³ voxels in parts of 1 × 4 × 4, as ingest makes them where slices are thick.
SiteIndex index_of(const std::vector<std::array<std::int64_t, 3>>& voxels) {
  SiteIndex out;
  out.grid = {{16, 16, 16}, {1, 4, 4}};
  for (const auto& [z, y, x] : voxels) {
    SiteBlock block;
    block.place_zyx = {static_cast<std::uint32_t>(z / 16), static_cast<std::uint32_t>(y / 16),
                       static_cast<std::uint32_t>(x / 16)};
    block.pixels = 1;
    block.parts.set(out.grid.part(z % 16, y % 16 / 4, x % 16 / 4));
    out.blocks.push_back(block);
  }
  return out;
}

TEST(BodyRegion, IsThePartsOfTheBodyAndThoseBesideThem) {
  const std::array<std::int64_t, 3> shape{20, 37, 50};
  const std::vector<std::array<std::int64_t, 3>> body{{3, 9, 33}, {17, 36, 0}, {0, 0, 49}};
  BodyRegion region(index_of(body), shape);
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    const auto slice = region.slice(z);
    ASSERT_EQ(slice.size(), 37u * 50u);
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        const bool inside = std::any_of(body.begin(), body.end(), [&](const auto& at) {
          return std::abs(z - at[0]) <= 1 && std::abs(y / 4 - at[1] / 4) <= 1 &&
                 std::abs(x / 4 - at[2] / 4) <= 1;
        });
        ASSERT_EQ(slice[static_cast<std::size_t>(y * 50 + x)] != 0, inside)
            << z << " " << y << " " << x;
      }
    }
  }
}

TEST(BodyRegion, HoldsBlocksWhoseEveryPartIsInside) {
  const BodyRegion region(index_of({{3, 9, 33}}), {20, 37, 50});
  EXPECT_TRUE(region.holds(index_of({{4, 12, 36}}).blocks.front()));
  EXPECT_FALSE(region.holds(index_of({{5, 12, 36}}).blocks.front()));  // two slices away
  EXPECT_FALSE(region.holds(index_of({{4, 16, 36}}).blocks.front()));  // two parts away
  SiteBlock both = index_of({{4, 12, 36}}).blocks.front();
  both.parts.set(index_of({}).grid.part(15, 0, 0));
  EXPECT_FALSE(region.holds(both));
}

TEST(BodyRegion, WithoutABodyIsEverywhere) {
  BodyRegion region(index_of({}), {20, 37, 50});
  EXPECT_TRUE(region.everywhere());
  EXPECT_TRUE(region.slice(7).empty());
  EXPECT_TRUE(region.holds(index_of({{5, 12, 36}}).blocks.front()));
}

}  // namespace
}  // namespace headrace::cohort
