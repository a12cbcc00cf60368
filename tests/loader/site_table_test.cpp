#include "headrace/loader/plan/site_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "headrace/math/permutation.hpp"
#include "tests/loader/expect_fits.hpp"

namespace headrace::loader::detail {
namespace {

using cohort::PartBits;
using cohort::PartGrid;
using cohort::SiteBlock;

TEST(PartBits, NthIsTheNthSetPart) {
  std::mt19937_64 random(3);
  for (const int density : {1, 2, 7, 100}) {
    PartBits bits;
    std::vector<std::uint32_t> set;
    for (std::uint32_t part = 0; part < 256; ++part) {
      if (random() % 100 >= static_cast<unsigned>(density) && part != 255) continue;
      bits.set(part);
      set.push_back(part);
    }
    ASSERT_EQ(bits.count(), set.size());
    for (std::uint32_t n = 0; n < set.size(); ++n) EXPECT_EQ(bits.nth(n), set[n]);
  }
}

TEST(PartGrid, APartsFirstPixelIsThatOfItsNumber) {
  for (const PartGrid& grid : {PartGrid{{16, 16, 16}, {1, 4, 4}}, PartGrid{{16, 16, 16}, {4, 4, 1}},
                               PartGrid{{1, 64, 64}, {1, 4, 4}}}) {
    ASSERT_TRUE(grid.valid());
    for (std::uint32_t part = 0; part < 256; ++part) {
      const auto [z, y, x] = grid.first_of(part);
      EXPECT_EQ(grid.part(z / grid.part_zyx[0], y / grid.part_zyx[1], x / grid.part_zyx[2]), part);
    }
  }
  EXPECT_FALSE((PartGrid{{16, 16, 16}, {4, 4, 4}}.valid())) << "64 parts";
  EXPECT_FALSE((PartGrid{{1, 64, 60}, {1, 4, 4}}.valid()));
  EXPECT_FALSE((PartGrid{}.valid()));
}

TEST(PowerOf, IsThePower) {
  for (const double p : {0.0, 0.125, 1.0 / 3, 0.5, 0.7, 1.0}) {
    for (const double x : {1.0, 2.0, 17.0, 65e6, 1e12})
      EXPECT_NEAR(power_of(x, p) / std::pow(x, p), 1, 1e-8) << x << " to " << p;
  }
}

SiteBlock block_of(std::uint32_t region, std::array<std::uint32_t, 3> place, std::uint32_t pixels,
                   const std::vector<std::uint32_t>& parts) {
  SiteBlock block;
  block.place_zyx = place;
  block.class_value = 1;
  block.region = region;
  block.pixels = pixels;
  for (const std::uint32_t part : parts) block.parts.set(part);
  return block;
}

TEST(SiteTable, DrawsRegionsBlocksAndPartsAsDocumented) {
  const PartGrid grid{{1, 64, 64}, {1, 4, 4}};
  const std::vector<SiteBlock> blocks{
      block_of(3, {0, 0, 0}, 900, {0, 17, 200}), block_of(3, {0, 1, 2}, 100, {255}),
      block_of(8, {0, 2, 0}, 40, {5, 6}), block_of(9, {0, 2, 0}, 3960, {7})};
  for (const double power : {0.0, 0.5, 1.0}) {
    const SiteTable table(blocks, grid, {1, 190, 190}, power);
    ASSERT_EQ(table.regions(), 3u);
    EXPECT_EQ(table.pixels(), 5000u);
    const std::array<double, 3> size{std::pow(1000, power), std::pow(40, power),
                                     std::pow(3960, power)};
    const double sum = size[0] + size[1] + size[2];
    std::map<std::uint64_t, double> share;
    const auto key = [](double y, double x) { return static_cast<std::uint64_t>(y * 1000 + x); };
    for (const int part : {0, 17, 200})
      share[key(part / 16 * 4, part % 16 * 4)] = size[0] / sum * 0.9 / 3;
    share[key(64 + 60, 128 + 60)] = size[0] / sum * 0.1;
    share[key(128, 20)] = share[key(128, 24)] = size[1] / sum / 2;
    share[key(128, 28)] = size[2] / sum;
    std::mt19937 random(5);
    std::map<std::uint64_t, std::uint64_t> count;
    for (int i = 0; i < 100000; ++i) {
      const std::uint32_t a = random(), b = random(), c = random(), d = random(), e = random();
      const SiteBox box = table.part(table.region(a, b), c, d, e);
      ++count[key(box.low[1], box.low[2])];
      EXPECT_EQ(box.high[1], std::min(box.low[1] + 4, 190.0));
      EXPECT_EQ(box.high[2], std::min(box.low[2] + 4, 190.0)) << "cut by the image";
    }
    fixtures::expect_fits(share, count, "power " + std::to_string(power));
  }
}

TEST(SiteTable, AShareIsThatOfThePartsUnderABox) {
  const PartGrid grid{{1, 64, 64}, {1, 4, 4}};
  std::mt19937 random(9);
  std::set<std::pair<int, int>> held;  // parts that hold something, by row and column
  std::vector<SiteBlock> blocks;
  for (std::uint32_t y = 0; y < 3; ++y) {
    for (std::uint32_t x = 0; x < 4; ++x) {
      if (random() % 3 == 0) continue;
      std::vector<std::uint32_t> parts;
      for (std::uint32_t part = 0; part < 256; ++part) {
        if (random() % 2 == 0) continue;
        parts.push_back(part);
        held.emplace(y * 16 + part / 16, x * 16 + part % 16);
      }
      blocks.push_back(block_of(0, {0, y, x}, 10, parts));
    }
  }
  const SiteTable table(blocks, grid, {1, 190, 250}, 1);
  for (int i = 0; i < 2000; ++i) {
    SiteBox box;
    box.low = {0, random() % 300 / 1.3 - 40, random() % 400 / 1.3 - 60};
    box.high = {1, box.low[1] + random() % 200 / 1.7, box.low[2] + random() % 200 / 1.7};
    int inside = 0, of = 0;
    for (int y = -40; y < 100; ++y) {
      for (int x = -40; x < 150; ++x) {
        if (y * 4 < box.low[1] || y * 4 >= box.high[1] || x * 4 < box.low[2] ||
            x * 4 >= box.high[2])
          continue;
        ++of;
        inside += held.contains({y, x}) ? 1 : 0;
      }
    }
    if (of > 0) EXPECT_EQ(table.share(box), static_cast<double>(inside) / of);
  }
  for (const auto& [y, x] : {std::pair{5, 9}, std::pair{17, 40}}) {
    const SiteBox small{{0, y * 4 + 1.0, x * 4 + 1.0}, {1, y * 4 + 2.0, x * 4 + 3.0}};
    EXPECT_EQ(table.share(small), held.contains({y, x}) ? 1 : 0);
  }
}

TEST(SiteTable, OfNothingIsEmpty) {
  EXPECT_TRUE(SiteTable().empty());
  EXPECT_EQ(SiteTable().regions(), 0u);
  const SiteTable none({}, PartGrid{{1, 64, 64}, {1, 4, 4}}, {1, 100, 100}, 1);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.regions(), 0u);
}

TEST(Permuted, IsAPermutationOfEveryCountAndAnotherOneEachCycle) {
  for (const std::uint64_t count : {1ull, 2ull, 3ull, 5ull, 16ull, 17ull, 1000ull, 4097ull}) {
    std::set<std::vector<std::uint64_t>> seen;
    for (std::uint64_t cycle = 0; cycle < 5; ++cycle) {
      std::vector<std::uint64_t> order;
      for (std::uint64_t i = 0; i < count; ++i)
        order.push_back(math::permuted(i, count, 42, 100, cycle));
      seen.insert(order);
      EXPECT_EQ(std::set<std::uint64_t>(order.begin(), order.end()).size(), count);
      EXPECT_LT(*std::max_element(order.begin(), order.end()), count);
    }
    if (count >= 16) {
      EXPECT_EQ(seen.size(), 5u) << count;
    }
  }
}

TEST(Permuted, EveryElementStandsEverywhere) {
  // Element 0 of 7 over many cycles: each place alike.
  std::map<std::uint64_t, std::uint64_t> count;
  std::map<std::uint64_t, double> share;
  for (std::uint64_t i = 0; i < 7; ++i) share[i] = 1.0 / 7;
  for (std::uint64_t cycle = 0; cycle < 20000; ++cycle) ++count[math::permuted(0, 7, 1, 4, cycle)];
  fixtures::expect_fits(share, count, "places");
}

}  // namespace
}  // namespace headrace::loader::detail
