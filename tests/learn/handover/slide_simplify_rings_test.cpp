#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <set>
#include <tuple>

#include "learn/handover/slide/simplify_rings.hpp"
#include "tests/learn/handover/slide_by_hand.hpp"

namespace headrace::handover {
namespace {

using pixels::Corner;

std::vector<pixels::TracedRegion> regions_of(const HandMap& map) {
  std::vector<pixels::TracedRegion> regions;
  pixels::RegionTracer tracer(map.width, std::bitset<256>(0b1110), 0, true,
                              [&](pixels::TracedRegion&& r) { regions.push_back(std::move(r)); });
  for (std::int64_t y = 0; y < map.height; ++y) {
    tracer.add(
        std::span(map.classes)
            .subspan(static_cast<std::size_t>(y * map.width), static_cast<std::size_t>(map.width)),
        {});
  }
  tracer.finish();
  return regions;
}

std::int64_t turn(const Corner& a, const Corner& b, const Corner& p) {
  return std::int64_t{b.x - a.x} * (p.y - a.y) - std::int64_t{b.y - a.y} * (p.x - a.x);
}

bool on_segment(const Corner& a, const Corner& b, const Corner& p) {
  return turn(a, b, p) == 0 && std::min(a.x, b.x) <= p.x && p.x <= std::max(a.x, b.x) &&
         std::min(a.y, b.y) <= p.y && p.y <= std::max(a.y, b.y);
}

/// Two edges meet elsewhere than in corners of both.
bool collide(const Corner& a, const Corner& b, const Corner& c, const Corner& d) {
  const auto sign = [](std::int64_t v) { return (v > 0) - (v < 0); };
  if (sign(turn(a, b, c)) * sign(turn(a, b, d)) < 0 &&
      sign(turn(c, d, a)) * sign(turn(c, d, b)) < 0)
    return true;
  const auto inner = [](const Corner& p, const Corner& q, const Corner& at) {
    return at != p && at != q && on_segment(p, q, at);
  };
  return inner(a, b, c) || inner(a, b, d) || inner(c, d, a) || inner(c, d, b) ||
         (a == d && b == c) || (a == c && b == d);
}

int collisions(const Rings& rings) {
  std::vector<std::pair<Corner, Corner>> edges;
  for (const auto& ring : rings) {
    for (std::size_t i = 0; i < ring.size(); ++i)
      edges.emplace_back(ring[i], ring[(i + 1) % ring.size()]);
  }
  int found = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      found += collide(edges[i].first, edges[i].second, edges[j].first, edges[j].second) ? 1 : 0;
  }
  return found;
}

double distance(const Corner& a, const Corner& b, const Corner& p) {
  const double dx = b.x - a.x, dy = b.y - a.y, px = p.x - a.x, py = p.y - a.y;
  const double along = std::clamp((px * dx + py * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  return std::hypot(px - along * dx, py - along * dy);
}

/// The greatest distance of a corner of `before` from the outline `after`, which has some of its
/// corners, from the edge that stands for it.
double greatest_move(const std::vector<Corner>& before, const std::vector<Corner>& after) {
  const auto begin = std::find(before.begin(), before.end(), after[0]) - before.begin();
  double greatest = 0;
  std::size_t edge = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const Corner& corner = before[(static_cast<std::size_t>(begin) + k) % before.size()];
    if (edge + 1 < after.size() && corner == after[edge + 1]) ++edge;
    greatest = std::max(greatest, distance(after[edge], after[(edge + 1) % after.size()], corner));
  }
  return greatest;
}

double doubled_area(const std::vector<Corner>& ring) {
  double area = 0;
  for (std::size_t i = 0; i < ring.size(); ++i)
    area += static_cast<double>(turn({0, 0}, ring[i], ring[(i + 1) % ring.size()]));
  return area;
}

TEST(SimplifyRings, StayValidAndWithinTheTolerance) {
  for (const double tolerance : {0.75, 1.0, 2.5, 8.0}) {
    std::size_t before = 0, after = 0;
    for (const pixels::TracedRegion& region : regions_of(blobs(90, 120))) {
      Rings rings = region.rings;
      simplify_rings(rings, tolerance);
      ASSERT_EQ(rings.size(), region.rings.size());
      EXPECT_EQ(collisions(rings), 0);
      for (std::size_t r = 0; r < rings.size(); ++r) {
        before += region.rings[r].size();
        after += rings[r].size();
        ASSERT_GE(rings[r].size(), 4u);
        EXPECT_LE(greatest_move(region.rings[r], rings[r]), tolerance);
        EXPECT_GT(doubled_area(rings[r]) * doubled_area(region.rings[r]), 0)
            << "the same direction";
      }
    }
    EXPECT_LT(after, before);
  }
}

TEST(SimplifyRings, WithoutToleranceNothingChanges) {
  for (const pixels::TracedRegion& region : regions_of(blobs(60, 60))) {
    Rings rings = region.rings;
    simplify_rings(rings, 0);
    EXPECT_EQ(rings, region.rings);
  }
}

TEST(SimplifyRings, ASlantedBorderBecomesALine) {
  std::vector<Corner> ring{{0, 0}};
  for (int i = 0; i < 40; ++i) {  // stairs
    ring.push_back({i + 10, i});
    ring.push_back({i + 10, i + 1});
  }
  ring.push_back({0, 40});
  Rings rings{ring};
  simplify_rings(rings, 1.0);
  EXPECT_LE(rings[0].size(), 7u);  // 4, and one in 64 of a chain
  EXPECT_NEAR(doubled_area(rings[0]), doubled_area(ring), 2 * 40);
}

TEST(SimplifyRings, AHoleBesideTheBorderStaysInside) {
  // A bump holds a hole; without its corner the hole would be outside.
  Rings rings{{{0, 3}, {9, 3}, {9, 0}, {12, 0}, {12, 3}, {20, 3}, {20, 20}, {0, 20}},
              {{10, 1}, {10, 2}, {11, 2}, {11, 1}}};
  simplify_rings(rings, 6.0);
  EXPECT_EQ(collisions(rings), 0);
  double crossings = 0;  // of the line to the right of the hole's middle
  for (std::size_t i = 0; i < rings[0].size(); ++i) {
    const Corner &a = rings[0][i], &b = rings[0][(i + 1) % rings[0].size()];
    if ((a.y > 1.5) == (b.y > 1.5)) continue;
    crossings += a.x + (1.5 - a.y) * (b.x - a.x) / (b.y - a.y) > 10.5 ? 1 : 0;
  }
  EXPECT_EQ(crossings, 1);
}

TEST(SimplifyRings, WhereRingsTouchBothKeepTheCorner) {
  // Two holes that touch in (4, 4).
  Rings rings{{{0, 0}, {9, 0}, {9, 9}, {0, 9}},
              {{2, 3}, {2, 4}, {4, 4}, {4, 2}, {3, 2}, {3, 3}},
              {{4, 4}, {4, 5}, {5, 5}, {5, 6}, {6, 6}, {6, 4}}};
  simplify_rings(rings, 3.0);
  EXPECT_EQ(collisions(rings), 0);
  for (const std::size_t hole : {1u, 2u})
    EXPECT_EQ(std::count(rings[hole].begin(), rings[hole].end(), Corner{4, 4}), 1);
}

}  // namespace
}  // namespace headrace::handover
