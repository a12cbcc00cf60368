// The measures behind the remarks of slides, with values derived by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "headrace/pixels/quality/ink.hpp"
#include "headrace/pixels/quality/sharpness.hpp"
#include "headrace/pixels/stain/stain_angles.hpp"
#include "headrace/transform/slide/operations/slide_stain_normalize.hpp"
#include "learn/predict/quality/stain_fit.hpp"

namespace headrace::predict {
namespace {

using pixels::halved;
using pixels::ink_shares;
using pixels::InkShares;
using pixels::is_dark_field;
using pixels::kBlackShare;
using pixels::kStainLimitDegrees;
using pixels::laplacian_variance;
using pixels::stain_angles;
using Rgb = std::array<std::uint8_t, 3>;

constexpr Rgb kGlass{245, 244, 246}, kTissue{200, 120, 180}, kBlue{40, 60, 170},
    kGreen{40, 140, 90}, kBlack{30, 28, 35};

template <typename Colour>
pixels::Image8 painted(std::int64_t height, std::int64_t width, const Colour& colour) {
  pixels::Image8 image(height, width, 3);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const Rgb rgb = colour(y, x);
      std::copy(rgb.begin(), rgb.end(), image.row(y) + 3 * x);
    }
  }
  return image;
}

pixels::Image8 grey(std::int64_t edge,
                    const std::function<int(std::int64_t, std::int64_t)>& value) {
  return painted(edge, edge, [&](auto y, auto x) {
    const auto v = static_cast<std::uint8_t>(value(y, x));
    return Rgb{v, v, v};
  });
}

pixels::Mask everywhere(std::int64_t edge) {
  pixels::Mask mask(edge, edge);
  std::fill(mask.pixels.begin(), mask.pixels.end(), std::uint8_t{1});
  return mask;
}

TEST(Sharpness, OfStripesAndEdgesIsTheVarianceOfTheirSecondDifferences) {
  // Stripes of one pixel, 100 and 110: the Laplacian is +20 and -20.
  const auto stripes = grey(10, [](auto, auto x) { return x % 2 == 0 ? 100 : 110; });
  EXPECT_DOUBLE_EQ(*laplacian_variance(stripes, everywhere(10)), 400);
  // A checkerboard has twice that.
  const auto board = grey(10, [](auto y, auto x) { return (x + y) % 2 == 0 ? 100 : 110; });
  EXPECT_DOUBLE_EQ(*laplacian_variance(board, everywhere(10)), 1600);
  // A plane has none.
  const auto plane = grey(10, [](auto y, auto x) { return 50 + 3 * static_cast<int>(y + 2 * x); });
  EXPECT_DOUBLE_EQ(*laplacian_variance(plane, everywhere(10)), 0);
  // An edge of 80 between columns 4 and 5 of 8 inner ones: +80 and -80 there, else 0.
  const auto edge = grey(10, [](auto, auto x) { return x < 5 ? 60 : 140; });
  EXPECT_DOUBLE_EQ(*laplacian_variance(edge, everywhere(10)), 80 * 80 * 2 / 8.0);
}

TEST(Sharpness, SeesOnlyTissueAndLuminance) {
  const auto board = grey(10, [](auto y, auto x) { return (x + y) % 2 == 0 && x > 5 ? 100 : 110; });
  pixels::Mask left(10, 10);
  for (std::int64_t y = 0; y < 10; ++y)
    for (std::int64_t x = 0; x < 5; ++x) left.at(y, x) = 1;
  EXPECT_DOUBLE_EQ(*laplacian_variance(board, left), 0);
  EXPECT_FALSE(laplacian_variance(board, pixels::Mask(10, 10)));
  // Blue alone counts 0.114.
  const auto blue = painted(10, 10, [](auto, auto x) {
    return Rgb{90, 90, static_cast<std::uint8_t>(x % 2 == 0 ? 100 : 200)};
  });
  EXPECT_NEAR(*laplacian_variance(blue, everywhere(10)), std::pow(0.114 * 200, 2), 1e-9);
}

TEST(Sharpness, HalvingIsTheRoundedMeanOfFour) {
  auto image = painted(3, 4, [](auto y, auto x) {
    const auto v = static_cast<std::uint8_t>(10 * y + x);
    return Rgb{v, static_cast<std::uint8_t>(v + 100), 7};
  });
  const pixels::Image8 half = halved(image);
  ASSERT_EQ(half.height, 1);
  ASSERT_EQ(half.width, 2);
  // (0 + 1 + 10 + 11 + 2) / 4 = 6, (2 + 3 + 12 + 13 + 2) / 4 = 8
  EXPECT_EQ(half.pixels, (std::vector<std::uint8_t>{6, 106, 7, 8, 108, 7}));
}

/// A slide of 100×100: tissue in rows 10 to 59 of columns 0 to 79, and a bar of ink of 8 rows.
pixels::Image8 marked(const Rgb& ink) {
  return painted(100, 100, [&](auto y, auto x) {
    if (y >= 80 && y < 88 && x >= 20 && x < 70) return ink;
    return y >= 10 && y < 60 && x < 80 ? kTissue : kGlass;
  });
}

TEST(Ink, BarsOfAPenAreCountedByTheirKind) {
  for (const Rgb& ink : {kBlue, kGreen}) {
    const InkShares shares = ink_shares(marked(ink));
    EXPECT_DOUBLE_EQ(shares.coloured, 8 * 50 / 1e4);
    EXPECT_DOUBLE_EQ(shares.black, 0);
    EXPECT_TRUE(shares.marks);
  }
  const InkShares black = ink_shares(marked(kBlack));
  EXPECT_DOUBLE_EQ(black.coloured, 0);
  EXPECT_DOUBLE_EQ(black.black, 8 * 50 / 1e4);
  EXPECT_TRUE(black.marks);
}

TEST(Ink, TissueAndSinglePixelsAreNone) {
  const InkShares none = ink_shares(marked(kTissue));
  EXPECT_EQ(none.coloured + none.black, 0);
  const auto dots = painted(100, 100, [](auto y, auto x) {
    if (y % 10 == 5 && x % 10 < 2) return kBlue;
    return y < 60 ? kTissue : kGlass;
  });
  EXPECT_EQ(ink_shares(dots).coloured, 0) << "two pixels beside each other";
}

TEST(Ink, ADarkImageIsNoMark) {
  const auto dark = painted(100, 100, [](auto y, auto x) {
    return (y / 20 + x / 20) % 7 == 0 ? Rgb{30, 30, 190} : kBlack;
  });
  const InkShares shares = ink_shares(dark);
  EXPECT_FALSE(shares.marks);
  EXPECT_GT(shares.black, kBlackShare);
  EXPECT_TRUE(is_dark_field(shares));
}

TEST(Ink, ABrightFieldScanMayHaveBlackAroundIt) {
  const auto padded = painted(100, 100, [](auto y, auto x) {
    if (y >= 60 || x >= 90) return kBlack;
    return y >= 10 && y < 50 && x < 80 ? kTissue : kGlass;
  });
  const InkShares shares = ink_shares(padded);
  EXPECT_GT(shares.black, kBlackShare);
  EXPECT_FALSE(is_dark_field(shares));
}

TEST(StainFit, AnglesAreThoseBetweenTheVectors) {
  // Haematoxylin turned by 30 degrees in the plane of r and g, eosin kept, and any length.
  const double c = std::cos(std::acos(-1) / 6), s = 0.5;
  const auto angles = stain_angles({1, 0, 0, 1, 0, 0}, {2 * c, 0, 2 * s, 3, 0, 0});
  EXPECT_NEAR(angles[0], 30, 1e-9);
  EXPECT_NEAR(angles[1], 0, 1e-5);
}

TEST(StainFit, TwoEstimatesOfHaematoxylinAndEosinAreNear) {
  const std::array<double, 6> ruifrok{0.65, 0.07, 0.70, 0.99, 0.29, 0.11};
  const auto angles = stain_angles(transform::builtin_reference().stain_od_rgb_he, ruifrok);
  EXPECT_LT(std::max(angles[0], angles[1]), kStainLimitDegrees);
}

TEST(StainFit, ColourDistanceIsInTheRunsStandardDeviations) {
  ImageColour colour;
  colour.od_pixels = 4;
  colour.od_sum = {4 * 8192, 2 * 8192, 0};  // means 1, 0.5 and 0
  loader::OdStats run{10, {0.7, 0.1, 0}, {0.1, 0.2, 0.2}};
  // Differences 0.3 and 0.4: 0.5; variances 0.01 + 0.04 + 0.04: 0.3.
  EXPECT_NEAR(colour_distance(colour, run), 0.5 / 0.3, 1e-12);
  run.std = {};
  EXPECT_EQ(colour_distance(colour, run), 0);
}

}  // namespace
}  // namespace headrace::predict
