#include <gtest/gtest.h>

#include <array>
#include <random>

#include "headrace/pixels/tissue/morphology.hpp"
#include "headrace/pixels/tissue/otsu.hpp"
#include "headrace/pixels/tissue/small_objects.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"

namespace headrace::pixels {
namespace {

Mask mask_of(const std::vector<std::string>& rows) {
  Mask mask(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size()));
  for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
    mask.pixels[i] = rows[i / rows[0].size()][i % rows[0].size()] == '#' ? 1 : 0;
  }
  return mask;
}

TEST(Otsu, SplitsTwoPeaksAndGivesUpOnOne) {
  std::array<std::uint64_t, 256> histogram{};
  EXPECT_EQ(otsu_threshold(histogram), -1);
  histogram[10] = 500;
  EXPECT_EQ(otsu_threshold(histogram), -1);
  histogram[200] = 100;
  EXPECT_EQ(otsu_threshold(histogram), 10);
  // skimage.filters.threshold_otsu(hist=...) of this histogram gives 11.
  histogram[11] = 400;
  EXPECT_EQ(otsu_threshold(histogram), 11);
}

TEST(Morphology, DilatesAndErodesBySquaresWithANeutralEdge) {
  const Mask dot = mask_of({".....", ".....", "..#..", ".....", "....."});
  EXPECT_EQ(dilate(dot, 1).pixels, mask_of({".....", ".###.", ".###.", ".###.", "....."}).pixels);
  EXPECT_EQ(erode(dilate(dot, 1), 1).pixels, dot.pixels);
  const Mask full = mask_of({"###", "###"});
  EXPECT_EQ(erode(full, 2).pixels, full.pixels);
  EXPECT_EQ(open(dot, 1).count(), 0);
  EXPECT_EQ(close(mask_of({"#.#"}), 1).count(), 3);
}

TEST(Components, DropSmallObjectsAndFillSmallHolesOnly) {
  Mask mask = mask_of({"##......", "##....#.", ".....#..", "........"});
  remove_small_objects(mask, 3);  // the two that touch by a corner are one object of two pixels
  EXPECT_EQ(mask.pixels, mask_of({"##......", "##......", "........", "........"}).pixels);
  Mask holes = mask_of({"######", "#.##.#", "######", "##.###"});
  fill_small_holes(holes, 2);  // the last one is open to the edge
  EXPECT_EQ(holes.pixels, mask_of({"######", "######", "######", "##.###"}).pixels);
  fill_small_holes(holes, 100);
  EXPECT_EQ(holes.count(), 23);
}

TEST(TissueMask, OfASinglePixelAndOfABlackImageDoesNotFail) {
  Image8 white(1, 1, 3), black(40, 40, 3);
  white.pixels = {255, 255, 255};
  EXPECT_EQ(find_tissue(white).mask.count(), 0);
  EXPECT_EQ(find_tissue(black).mask.count(), 0);  // padding
}

/// Glass of 240 with stained noise in the middle.
Image8 stained(std::int64_t height, std::int64_t width) {
  Image8 image(height, width, 3);
  std::mt19937 random(5);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const bool inside =
          y > height / 4 && y < 3 * height / 4 && x > width / 4 && x < 3 * width / 4;
      for (int c = 0; c < 3; ++c) {
        const int base = inside ? (c == 1 ? 90 : 150) + static_cast<int>(random() % 40) : 240;
        image.row(y)[3 * x + c] = static_cast<std::uint8_t>(base);
      }
    }
  }
  return image;
}
void fill(Image8& image, std::int64_t y0, std::int64_t y1, std::int64_t x0, std::int64_t x1,
          std::array<std::uint8_t, 3> colour) {
  for (std::int64_t y = y0; y < y1; ++y) {
    for (std::int64_t x = x0; x < x1; ++x) {
      for (std::size_t c = 0; c < 3; ++c)
        image.row(y)[3 * x + static_cast<std::int64_t>(c)] = colour[c];
    }
  }
}

TEST(TissueMask, PaddingOfOneColourIsNoTissueAndChangesNothingElse) {
  const Image8 plain = stained(200, 240);
  const TissueMask without = find_tissue(plain);
  ASSERT_GT(without.mask.count(), 10000);
  for (const auto colour : {std::array<std::uint8_t, 3>{0, 0, 0},
                            {7, 4, 8},
                            {128, 128, 128},
                            {0, 0, 200},
                            {190, 190, 190}}) {
    Image8 padded = plain;
    fill(padded, 0, 40, 0, 240, colour);
    fill(padded, 0, 200, 200, 240, colour);
    const TissueMask found = find_tissue(padded);
    EXPECT_EQ(found.mask.pixels, without.mask.pixels) << int{colour[0]};
    if (colour[0] == 190) continue;  // counted as glass
    EXPECT_EQ(found.od_threshold, without.od_threshold) << int{colour[0]};
  }
}

TEST(TissueMask, BlackThatIsNotEvenIsPaddingToo) {
  const Image8 plain = stained(200, 240);
  const TissueMask without = find_tissue(plain);
  Image8 padded = plain;
  std::mt19937 random(5);
  for (std::int64_t y = 0; y < 200; ++y) {
    for (std::int64_t x = 200; x < 240; ++x) {
      // From black to the level that a sensor has without light, with its noise.
      for (int c = 0; c < 3; ++c)
        padded.row(y)[3 * x + c] = static_cast<std::uint8_t>((x - 200) / 2 + random() % 4);
    }
  }
  const TissueMask found = find_tissue(padded);
  EXPECT_EQ(found.mask.pixels, without.mask.pixels);
  EXPECT_EQ(found.od_threshold, without.od_threshold);
}

TEST(TissueMask, ABlackGapInsideIsNoTissueButInkNucleiAndFoldsStay) {
  Image8 gap = stained(200, 240);
  const std::int64_t before = find_tissue(gap).mask.count();
  fill(gap, 80, 110, 100, 140, {0, 0, 0});
  const Mask mask = find_tissue(gap).mask;
  EXPECT_EQ(mask.at(95, 120), 0);
  EXPECT_LT(mask.count(), before - 1000);
  // A dark fold: as black as it gets, with the noise that every scan has.
  Image8 fold = stained(200, 240);
  std::mt19937 random(9);
  for (std::int64_t y = 80; y < 110; ++y) {
    for (std::int64_t x = 100; x < 140; ++x) {
      for (int c = 0; c < 3; ++c)
        fold.row(y)[3 * x + c] = static_cast<std::uint8_t>(4 + random() % 30);
    }
  }
  EXPECT_EQ(find_tissue(fold).mask.count(), before);
  // A small black dot, and tissue that reaches the edge.
  Image8 dot = stained(200, 240);
  fill(dot, 90, 96, 100, 106, {0, 0, 0});
  EXPECT_EQ(find_tissue(dot).mask.count(), before);
}

}  // namespace
}  // namespace headrace::pixels
