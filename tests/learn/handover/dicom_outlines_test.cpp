// Outlines of slices: filled again they give the pixels, by either rule of filling.
#include <gtest/gtest.h>

#include <random>

#include "headrace/pixels/polygon_raster.hpp"
#include "learn/handover/dicom/slice_outlines.hpp"

namespace headrace::handover {
namespace {

using Slice = std::vector<std::uint8_t>;

constexpr std::int64_t kWidth = 24, kHeight = 17;

std::bitset<256> values(std::initializer_list<std::size_t> list) {
  std::bitset<256> bits;
  for (const std::size_t value : list) bits.set(value);
  return bits;
}

Slice filled(const std::vector<SliceOutline>& outlines) {
  Slice slice(kWidth * kHeight);
  for (const SliceOutline& outline : outlines) {
    pixels::Ring ring;
    for (const auto& corner : outline.corners) {
      ring.push_back({static_cast<double>(corner.x), static_cast<double>(corner.y)});
    }
    pixels::PolygonRaster raster;
    raster.add({ring}, outline.value);
    raster.paint(0, 0, kHeight, kWidth, slice.data(), kWidth);
  }
  return slice;
}

/// How often an outline runs round the centre of a pixel.
int winding(const SliceOutline& outline, std::int64_t x, std::int64_t y) {
  int turns = 0;
  for (std::size_t i = 0; i < outline.corners.size(); ++i) {
    const auto& a = outline.corners[i];
    const auto& b = outline.corners[(i + 1) % outline.corners.size()];
    if (a.x != b.x || a.x <= x) continue;
    if (a.y <= y && b.y > y) ++turns;
    if (b.y <= y && a.y > y) --turns;
  }
  return turns;
}

TEST(SliceOutlines, FillToTheSamePixels) {
  std::mt19937 random(7);
  for (const unsigned share : {2u, 3u, 6u, 12u}) {
    Slice slice(kWidth * kHeight);
    for (auto& pixel : slice) pixel = random() % share == 0 ? random() % 3 : 1;
    Slice expected = slice;
    for (auto& pixel : expected) pixel = pixel == 2 ? 0 : pixel;
    EXPECT_EQ(filled(slice_outlines(slice, kWidth, values({1}))), expected);
    EXPECT_EQ(filled(slice_outlines(slice, kWidth, values({1, 2}))), slice);
  }
}

TEST(SliceOutlines, WindOnceRoundEachPixelOfTheirs) {
  std::mt19937 random(3);
  Slice slice(kWidth * kHeight);
  for (auto& pixel : slice) pixel = random() % 5 != 0;
  std::vector<int> turns(slice.size());
  for (const SliceOutline& outline : slice_outlines(slice, kWidth, values({1}))) {
    for (std::int64_t y = 0; y < kHeight; ++y) {
      for (std::int64_t x = 0; x < kWidth; ++x) turns[y * kWidth + x] += winding(outline, x, y);
    }
  }
  for (std::size_t i = 0; i < slice.size(); ++i) EXPECT_EQ(std::abs(turns[i]), slice[i]) << i;
}

TEST(SliceOutlines, CutGoesLeftFromTheUpperLeftCornerOfAHole) {
  // A square of 5 with one pixel missing at (3, 2).
  const std::vector<pixels::Corner> outline =
      joined_rings({{{0, 0}, {5, 0}, {5, 5}, {0, 5}}, {{4, 3}, {4, 2}, {3, 2}, {3, 3}}});
  const std::vector<pixels::Corner> expected{{0, 0}, {5, 0}, {5, 5}, {0, 5}, {0, 2}, {3, 2},
                                             {3, 3}, {4, 3}, {4, 2}, {3, 2}, {0, 2}};
  EXPECT_EQ(outline, expected);
}

}  // namespace
}  // namespace headrace::handover
