#include "headrace/pixels/regions/region_tracer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::pixels {
namespace {

using CornerRing = std::vector<Corner>;

struct LabelImage {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> values;

  std::uint8_t at(std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>(y * width + x)];
  }
};

/// '.' is 0, digits are themselves.
LabelImage drawn(const std::vector<std::string>& rows) {
  LabelImage image{
      static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size()), {}};
  for (const std::string& row : rows) {
    for (const char c : row)
      image.values.push_back(c == '.' ? std::uint8_t{0} : static_cast<std::uint8_t>(c - '0'));
  }
  return image;
}

constexpr std::size_t kChannels = 2;

/// Any function of the place would do.
std::uint8_t score(std::size_t channel, std::int64_t y, std::int64_t x) {
  return static_cast<std::uint8_t>(channel == 0 ? 10 * y + x : 255 - 7 * y - 3 * x);
}

std::vector<TracedRegion> traced(const LabelImage& image, const std::bitset<256>& values,
                                 bool outlines = true) {
  std::vector<TracedRegion> regions;
  RegionTracer tracer(image.width, values, kChannels, outlines,
                      [&](TracedRegion&& region) { regions.push_back(std::move(region)); });
  std::vector<std::uint8_t> scores(kChannels * static_cast<std::size_t>(image.width));
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const auto x = static_cast<std::int64_t>(i) % image.width;
      scores[i] = score(i / static_cast<std::size_t>(image.width), y, x);
    }
    const std::span<const std::uint8_t> all(image.values);
    tracer.add(all.subspan(static_cast<std::size_t>(y * image.width),
                           static_cast<std::size_t>(image.width)),
               scores);
  }
  tracer.finish();
  return regions;
}

std::bitset<256> only(std::uint8_t value) { return std::bitset<256>{}.set(value); }

std::string text(const CornerRing& ring) {
  std::string out;
  for (const Corner& corner : ring) out += fmt::format("{},{} ", corner.x, corner.y);
  return out;
}

std::vector<std::string> texts(const std::vector<CornerRing>& rings) {
  std::vector<std::string> out;
  out.reserve(rings.size());
  for (const CornerRing& ring : rings) out.push_back(text(ring));
  return out;
}

using Texts = std::vector<std::string>;

TEST(RegionTracer, MeasuresAndOutlinesARegion) {
  const auto regions = traced(drawn({"....",  //
                                     ".11.",  //
                                     "..1.",  //
                                     "...."}),
                              only(1));
  ASSERT_EQ(regions.size(), 1u);
  const TracedRegion& region = regions[0];
  EXPECT_EQ(region.value, 1);
  // Pixels (y, x): (1, 1), (1, 2), (2, 2).
  EXPECT_EQ(region.pixels, 3u);
  EXPECT_EQ(region.first_y, 1);
  EXPECT_EQ(region.first_x, 1);
  EXPECT_EQ(region.y0, 1);
  EXPECT_EQ(region.x0, 1);
  EXPECT_EQ(region.y1, 3);
  EXPECT_EQ(region.x1, 3);
  // y: 3 + 3 + 5; x: 3 + 5 + 5.
  EXPECT_EQ(region.doubled_yx, (std::array<std::uint64_t, 2>{11, 13}));
  // 11 + 12 + 22; 245 + 242 + 235.
  EXPECT_EQ(region.sums, (std::vector<std::uint64_t>{45, 722}));
  EXPECT_EQ(texts(region.rings), (Texts{"1,1 3,1 3,3 2,3 2,2 1,2 "}));
}

TEST(RegionTracer, OutlinesHolesAgainstTheClockAndWhatIsInThem) {
  const auto regions = traced(drawn({"11111",  //
                                     "1...1",  //
                                     "1.2.1",  //
                                     "1...1",  //
                                     "11111"}),
                              only(1).set(2));
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(texts(regions[0].rings), (Texts{"2,2 3,2 3,3 2,3 "}));
  EXPECT_EQ(texts(regions[1].rings), (Texts{"0,0 5,0 5,5 0,5 ", "1,1 1,4 4,4 4,1 "}));
}

TEST(RegionTracer, PartsThatTouchAtACornerOnlyAreRegionsOfTheirOwn) {
  const auto regions = traced(drawn({"1.",  //
                                     ".1"}),
                              only(1));
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(texts(regions[0].rings), (Texts{"0,0 1,0 1,1 0,1 "}));
  EXPECT_EQ(texts(regions[1].rings), (Texts{"1,1 2,1 2,2 1,2 "}));
}

TEST(RegionTracer, SplitsRingsWhereARegionTouchesItself) {
  // Around the empty pixel in the middle the region comes back to the corner (1, 1): the empty
  // pixel is a hole that touches the outer ring there.
  EXPECT_EQ(texts(traced(drawn({".11",  //
                                "1.1",  //
                                "111"}),
                         only(1))[0]
                      .rings),
            (Texts{"1,0 3,0 3,3 0,3 0,1 1,1 ", "1,1 1,2 2,2 2,1 "}));
  // The same with the gap at the bottom, where the outline is not complete when the parts meet.
  EXPECT_EQ(texts(traced(drawn({"111",  //
                                "1.1",  //
                                "11."}),
                         only(1))[0]
                      .rings),
            (Texts{"0,0 3,0 3,2 2,2 2,3 0,3 ", "1,1 1,2 2,2 2,1 "}));
  // Two holes that touch each other are two rings.
  EXPECT_EQ(texts(traced(drawn({"1111",  //
                                "1.11",  //
                                "11.1",  //
                                "1111"}),
                         only(1))[0]
                      .rings),
            (Texts{"0,0 4,0 4,4 0,4 ", "1,1 1,2 2,2 2,1 ", "2,2 2,3 3,3 3,2 "}));
}

TEST(RegionTracer, GivesRegionsInTheOrderOfTheirLastRowsThenOfTheirFirstPixels) {
  const auto regions = traced(drawn({"1.2.1",  //
                                     "1.2..",  //
                                     "1.222",  //
                                     "3...2"}),
                              only(1).set(2).set(3));
  std::vector<std::pair<std::int64_t, std::int64_t>> firsts;
  firsts.reserve(regions.size());
  for (const TracedRegion& region : regions) firsts.emplace_back(region.first_y, region.first_x);
  // The last rows are 0; 2; 3 twice, one of them from row 0 on and the other in row 3 only.
  EXPECT_EQ(firsts,
            (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 4}, {0, 0}, {0, 2}, {3, 0}}));
}

TEST(RegionTracer, TracesTheGivenValuesOnlyAndOutlinesOnlyWhenAsked) {
  const LabelImage image = drawn({"012", "312"});
  const auto regions = traced(image, only(1).set(3), false);
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[0].value, 1);
  EXPECT_EQ(regions[0].pixels, 2u);
  EXPECT_EQ(regions[1].value, 3);
  EXPECT_TRUE(regions[0].rings.empty());
  EXPECT_TRUE(traced(image, {}).empty());
}

TEST(RegionTracer, RefusesRowsOfAnotherSize) {
  const auto ignore = [](TracedRegion&&) {};
  EXPECT_EQ(error_of(ErrorCode::internal, [&] { RegionTracer(0, only(1), 0, true, ignore); }),
            "regions of an image: its width is 0, 1 to 2147483646 expected");
  RegionTracer tracer(3, only(1), 2, true, ignore);
  const std::vector<std::uint8_t> bytes(9);
  const std::span<const std::uint8_t> span(bytes);
  EXPECT_EQ(error_of(ErrorCode::internal, [&] { tracer.add(span.first(2), span.first(6)); }),
            "regions of an image: row 0 has 2 values and 6 scores, 3 and 6 expected");
  tracer.add(span.first(3), span.first(6));
  EXPECT_EQ(error_of(ErrorCode::internal, [&] { tracer.add(span.first(3), span.first(9)); }),
            "regions of an image: row 1 has 3 values and 9 scores, 3 and 6 expected");
  tracer.finish();
  EXPECT_EQ(error_of(ErrorCode::internal, [&] { tracer.add(span.first(3), span.first(6)); }),
            "regions of an image: no row may follow finish, nor 2147483646 others");
}

/// The region of a pixel by flood fill, and its pixels row by row: the reference.
struct Flooded {
  TracedRegion figures;
  std::vector<std::pair<std::int64_t, std::int64_t>> pixels;
};

Flooded flood(const LabelImage& image, std::int64_t y, std::int64_t x, std::vector<bool>& done) {
  Flooded out;
  std::vector<std::pair<std::int64_t, std::int64_t>> next;
  const std::uint8_t value = image.at(y, x);
  const auto visit = [&](std::int64_t py, std::int64_t px) {
    if (py < 0 || px < 0 || py >= image.height || px >= image.width) return;
    const auto i = static_cast<std::size_t>(py * image.width + px);
    if (done[i] || image.values[i] != value) return;
    done[i] = true;
    next.emplace_back(py, px);
  };
  visit(y, x);
  TracedRegion& r = out.figures;
  r = {value, 0, y, x, y, x, y, x, {}, std::vector<std::uint64_t>(kChannels), {}};
  while (!next.empty()) {
    const auto [py, px] = next.back();
    next.pop_back();
    out.pixels.emplace_back(py, px);
    ++r.pixels;
    r.y0 = std::min(r.y0, py);
    r.x0 = std::min(r.x0, px);
    r.y1 = std::max(r.y1, py + 1);
    r.x1 = std::max(r.x1, px + 1);
    r.doubled_yx[0] += static_cast<std::uint64_t>(2 * py + 1);
    r.doubled_yx[1] += static_cast<std::uint64_t>(2 * px + 1);
    for (std::size_t c = 0; c < kChannels; ++c) r.sums[c] += score(c, py, px);
    for (const auto& [dy, dx] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}})
      visit(py + dy, px + dx);
  }
  std::sort(out.pixels.begin(), out.pixels.end());
  return out;
}

/// All regions of the values, in the order that is promised.
std::vector<Flooded> flooded(const LabelImage& image, const std::bitset<256>& values) {
  std::vector<bool> done(image.values.size());
  std::vector<Flooded> out;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (!done[static_cast<std::size_t>(y * image.width + x)] && values[image.at(y, x)])
        out.push_back(flood(image, y, x, done));
    }
  }
  // They are in the order of their first pixels already.
  std::stable_sort(out.begin(), out.end(),
                   [](const Flooded& a, const Flooded& b) { return a.figures.y1 < b.figures.y1; });
  return out;
}

auto figures(const TracedRegion& r) {
  return std::tie(r.value, r.pixels, r.first_y, r.first_x, r.y0, r.x0, r.y1, r.x1, r.doubled_yx,
                  r.sums);
}

/// Twice the area, above 0 for clockwise rings as y goes down.
/// source: the shoelace formula.
std::int64_t doubled_area(const CornerRing& ring) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner &a = ring[i], &b = ring[(i + 1) % ring.size()];
    sum += std::int64_t{a.x} * b.y - std::int64_t{b.x} * a.y;
  }
  return sum;
}

/// Does the ring visit each point of the grid once, and turn at each corner by a right angle?
bool simple(const CornerRing& ring) {
  std::set<std::pair<std::int32_t, std::int32_t>> visited;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner &a = ring[i], &b = ring[(i + 1) % ring.size()], &c = ring[(i + 2) % ring.size()];
    if ((a.x == b.x) == (a.y == b.y) || (b.x == c.x) == (b.y == c.y)) return false;
    if ((a.x == b.x) == (b.x == c.x)) return false;
    const std::int32_t dx = (b.x > a.x) - (b.x < a.x), dy = (b.y > a.y) - (b.y < a.y);
    for (Corner p = a; p != b; p = {p.x + dx, p.y + dy}) {
      if (!visited.emplace(p.x, p.y).second) return false;
    }
  }
  return true;
}

/// Pixels (y, x) with an odd number of the rings' vertical edges to their left.
std::vector<std::pair<std::int64_t, std::int64_t>> rasterised(const TracedRegion& region) {
  const std::int64_t width = region.x1 - region.x0, height = region.y1 - region.y0;
  std::vector<bool> edge(static_cast<std::size_t>(width * height));
  for (const CornerRing& ring : region.rings) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Corner &a = ring[i], &b = ring[(i + 1) % ring.size()];
      if (a.x == region.x1) continue;  // no pixel is to its right
      for (std::int64_t y = std::min(a.y, b.y); y < std::max(a.y, b.y); ++y)
        edge[static_cast<std::size_t>((y - region.y0) * width + a.x - region.x0)].flip();
    }
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (std::int64_t y = 0; y < height; ++y) {
    bool in = false;
    for (std::int64_t x = 0; x < width; ++x) {
      if (edge[static_cast<std::size_t>(y * width + x)]) in = !in;
      if (in) out.emplace_back(y + region.y0, x + region.x0);
    }
  }
  return out;
}

void check_rings(const Flooded& expected, const TracedRegion& got) {
  ASSERT_FALSE(got.rings.empty());
  std::int64_t doubled = 0;
  for (const CornerRing& ring : got.rings) {
    ASSERT_TRUE(simple(ring)) << text(ring);
    const bool outer = &ring == &got.rings[0];
    ASSERT_EQ(doubled_area(ring) > 0, outer) << text(ring);
    for (const Corner& corner : ring) {
      ASSERT_FALSE(std::tie(corner.y, corner.x) < std::tie(ring[0].y, ring[0].x)) << text(ring);
    }
    doubled += doubled_area(ring);
  }
  ASSERT_EQ(doubled, 2 * static_cast<std::int64_t>(got.pixels));
  ASSERT_EQ(got.rings[0][0], (Corner{static_cast<std::int32_t>(got.first_x),
                                     static_cast<std::int32_t>(got.first_y)}));
  ASSERT_EQ(rasterised(got), expected.pixels);
}

void check(const LabelImage& image, const std::bitset<256>& values) {
  const auto expected = flooded(image, values);
  const auto got = traced(image, values);
  const auto plain = traced(image, values, false);
  ASSERT_EQ(got.size(), expected.size());
  ASSERT_EQ(plain.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(figures(got[i]), figures(expected[i].figures)) << "region " << i;
    ASSERT_EQ(figures(plain[i]), figures(expected[i].figures)) << "region " << i;
    ASSERT_NO_FATAL_FAILURE(check_rings(expected[i], got[i])) << "region " << i;
  }
}

TEST(RegionTracer, AgreesWithFloodFillOnRandomImages) {
  std::mt19937 random(20261123);
  for (int round = 0; round < 1500; ++round) {
    LabelImage image{1 + static_cast<std::int64_t>(random() % 33),
                     1 + static_cast<std::int64_t>(random() % 33),
                     {}};
    if (round % 10 == 0) image.height = 1;
    if (round % 10 == 1) image.width = 1;
    // From nearly empty to full, with up to four values; 0 is traced in every third round.
    const unsigned density = random() % 101, most = 1 + random() % 4;
    for (std::int64_t i = 0; i < image.height * image.width; ++i) {
      image.values.push_back(
          random() % 100 < density ? static_cast<std::uint8_t>(1 + random() % most) : 0);
    }
    auto values = only(1).set(2).set(4);
    values.set(0, round % 3 == 0);
    ASSERT_NO_FATAL_FAILURE(check(image, values)) << "round " << round;
  }
}

/// A pixel of an image that is hard on outlines.
bool pattern(int kind, std::int64_t y, std::int64_t x, const LabelImage& image) {
  switch (kind) {
    case 0:
      return true;
    case 1:
      return (y + x) % 2 != 0;  // chess
    case 2:
      return std::min({y, x, image.height - 1 - y, image.width - 1 - x}) % 2 != 0;  // rings
    case 3:
      return x % 2 == 0 || y == image.height - 1;  // parts that meet at the end
    case 4:
      return y % 2 == 0 || x % 2 == 0;  // single holes
    default:
      return y % 3 == 0 || x % 3 == 0 || y % 3 == x % 3;  // holes that touch
  }
}

TEST(RegionTracer, AgreesWithFloodFillOnPatterns) {
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 40}, {40, 1}, {17, 16}, {40, 41}}) {
    for (int kind = 0; kind < 6; ++kind) {
      LabelImage image{height, width, {}};
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) image.values.push_back(pattern(kind, y, x, image) ? 1 : 0);
      }
      ASSERT_NO_FATAL_FAILURE(check(image, only(0).set(1)))
          << "pattern " << kind << " of " << height << " x " << width;
    }
  }
}

}  // namespace
}  // namespace headrace::pixels
