#include "learn/view/slide/zoom_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "learn/view/slide/resample.hpp"

namespace headrace::view {
namespace {

/// Grey values that follow from the place on level 0; coarser levels are exact means of 2×2, 4×4, …
class Ramp : public SlidePicture {
 public:
  Ramp(std::int64_t height, std::int64_t width, std::vector<int> downsamples) {
    channels_ = 1;
    for (const int d : downsamples) {
      levels_.push_back({(height + d - 1) / d,
                         (width + d - 1) / d,
                         {static_cast<double>(d), static_cast<double>(d)}});
    }
  }
  static std::uint8_t at(std::int64_t y, std::int64_t x) {
    return static_cast<std::uint8_t>(y / 8 % 120 + x / 16 % 120);
  }
  static std::uint8_t mean(std::int64_t y0, std::int64_t x0, std::int64_t edge, std::int64_t height,
                           std::int64_t width) {
    double sum = 0, count = 0;
    for (std::int64_t y = y0; y < std::min(y0 + edge, height); ++y) {
      for (std::int64_t x = x0; x < std::min(x0 + edge, width); ++x) {
        sum += at(y, x);
        ++count;
      }
    }
    return static_cast<std::uint8_t>(sum / count + 0.5);
  }
  void read(std::size_t level, const Box2& box, std::uint8_t* dst) const override {
    largest = std::max<std::int64_t>(largest, box.height * box.width);
    pixels += static_cast<std::uint64_t>(box.height * box.width);
    const auto d = static_cast<std::int64_t>(levels_[level].downsample_yx[0]);
    for (std::int64_t y = box.y0; y < box.y0 + box.height; ++y) {
      for (std::int64_t x = box.x0; x < box.x0 + box.width; ++x)
        *dst++ = mean(y * d, x * d, d, levels_[0].height, levels_[0].width);
    }
  }
  mutable std::int64_t largest = 0;
  mutable std::atomic<std::uint64_t> pixels = 0;
};

TEST(DeepZoom, NumbersTilesAsOpenSeadragonDoes) {
  const DeepZoom zoom{2967, 2220};
  EXPECT_EQ(zoom.levels(), 13);
  EXPECT_EQ(zoom.height_of(12), 2967);
  EXPECT_EQ(zoom.height_of(11), 1484);
  EXPECT_EQ(zoom.width_of(10), 555);
  EXPECT_EQ(zoom.width_of(0), 1);
  EXPECT_TRUE(zoom.has(12, 11, 8));
  EXPECT_FALSE(zoom.has(12, 12, 8));
  EXPECT_FALSE(zoom.has(13, 0, 0));
  EXPECT_FALSE(zoom.has(-1, 0, 0));
  EXPECT_EQ(zoom.box(12, 11, 8), (Box2{2816, 2048, 151, 172}));
  EXPECT_EQ((DeepZoom{1, 1}).levels(), 1);
  EXPECT_EQ((DeepZoom{1, 256}).levels(), 9);
  EXPECT_EQ((DeepZoom{1, 257}).levels(), 10);
}

void expect_means(const ZoomTiles& tiles, int level, int tolerance) {
  const DeepZoom& zoom = tiles.zoom();
  const std::int64_t scale = zoom.scale(level);
  for (std::int64_t ty = 0; zoom.has(level, ty, 0); ++ty) {
    for (std::int64_t tx = 0; zoom.has(level, ty, tx); ++tx) {
      const Box2 box = zoom.box(level, ty, tx);
      const auto tile = tiles.tile(level, ty, tx);
      ASSERT_EQ(tile.height, box.height);
      ASSERT_EQ(tile.width, box.width);
      for (std::int64_t y = 0; y < box.height; y += 7) {
        for (std::int64_t x = 0; x < box.width; x += 5) {
          const int expected = Ramp::mean((box.y0 + y) * scale, (box.x0 + x) * scale, scale,
                                          zoom.height, zoom.width);
          ASSERT_NEAR(tile.row(y)[x], expected, tolerance) << level << " " << y << " " << x;
        }
      }
    }
  }
}

TEST(ZoomTiles, AreMeansOfTheBestLevel) {
  TileCache cache(1 << 24);
  const auto picture = std::make_shared<Ramp>(1100, 1500, std::vector<int>{1, 4, 16});
  const ZoomTiles tiles(picture, {1100, 1500}, ZoomTiles::Values::colours, 0, cache);
  expect_means(tiles, tiles.zoom().last(), 0);
  for (int level = tiles.zoom().last() - 1; level >= tiles.zoom().last() - 5; --level)
    expect_means(tiles, level, 2);
  EXPECT_LE(picture->largest, 1300 * 1300);
}

TEST(ZoomTiles, WithoutAPyramidTheSlideIsReadOnceInSmallParts) {
  TileCache cache(1 << 24);
  const auto picture = std::make_shared<Ramp>(2100, 2900, std::vector<int>{1});
  const ZoomTiles tiles(picture, {2100, 2900}, ZoomTiles::Values::colours, 0, cache);
  const int level = tiles.zoom().last() - 4;
  expect_means(tiles, level, 2);
  expect_means(tiles, level - 1, 2);
  tiles.tile(0, 0, 0);
  EXPECT_LE(picture->largest, 1300 * 1300);
  EXPECT_LT(picture->pixels, 2100U * 2900U * 11 / 10);
}

TEST(ZoomTiles, ClassesAreChosenAtThePixelsCentre) {
  TileCache cache(1 << 20);
  // A class map of 8 pixels of level 0 a pixel, which reaches beyond the slide's edge.
  class Map : public SlidePicture {
   public:
    Map() { levels_ = {{40, 50, {8, 8}}}; }
    void read(std::size_t, const Box2& box, std::uint8_t* dst) const override {
      for (std::int64_t y = 0; y < box.height; ++y) {
        for (std::int64_t x = 0; x < box.width; ++x)
          *dst++ = static_cast<std::uint8_t>((box.y0 + y + box.x0 + x) % 5);
      }
    }
  };
  const DeepZoom zoom{315, 397};
  const ZoomTiles tiles(std::make_shared<Map>(), zoom, ZoomTiles::Values::classes, 0, cache);
  for (const int level : {zoom.last(), zoom.last() - 2, zoom.last() - 4}) {
    const std::int64_t scale = zoom.scale(level);
    const Box2 box = zoom.box(level, 0, 0);
    const auto tile = tiles.tile(level, 0, 0);
    for (std::int64_t y = 0; y < box.height; ++y) {
      for (std::int64_t x = 0; x < box.width; ++x) {
        const std::int64_t my = (2 * y + 1) * scale / 16, mx = (2 * x + 1) * scale / 16;
        ASSERT_EQ(tile.row(y)[x], (my + mx) % 5) << level << " " << y << " " << x;
      }
    }
  }
}

TEST(Halved, TakesTheMeanOfWhatIsThere) {
  pixels::Image8 image(3, 3, 1);
  image.pixels = {0, 2, 4, 4, 6, 8, 10, 20, 30};
  EXPECT_EQ(halved(image).pixels, (std::vector<std::uint8_t>{3, 6, 15, 30}));
}

}  // namespace
}  // namespace headrace::view
