#include <gtest/gtest.h>

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
  EXPECT_EQ(find_tissue(black).mask.count(), 1600);
}

}  // namespace
}  // namespace headrace::pixels
