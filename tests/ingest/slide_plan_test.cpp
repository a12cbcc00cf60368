#include "headrace/ingest/slide/slide_plan.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::ingest {
namespace {

class FakeTiles : public imaging::EncodedTiles {
 public:
  explicit FakeTiles(std::vector<imaging::EncodedTileLevel> levels,
                     imaging::TileCodec codec = imaging::TileCodec::jpeg)
      : codec_(codec), levels_(std::move(levels)) {}
  imaging::TileCodec codec() const override { return codec_; }
  const std::vector<imaging::EncodedTileLevel>& levels() const override { return levels_; }
  std::vector<std::byte> tile(int, std::int64_t, std::int64_t) const override { return {}; }
  std::vector<std::vector<std::byte>> tiles(
      int, std::span<const imaging::TileNumber> wanted) const override {
    return std::vector<std::vector<std::byte>>(wanted.size());
  }
  bool by_requests() const override { return false; }
  std::vector<imaging::TilePlace> places(int) const override { return {}; }
  std::span<const std::byte> jpeg_tables(int) const override { return {}; }
  bool is_rgb(int) const override { return true; }

 private:
  imaging::TileCodec codec_;
  std::vector<imaging::EncodedTileLevel> levels_;
};

imaging::SlideInfo slide(std::vector<imaging::SlideLevel> levels) {
  imaging::SlideInfo info;
  info.levels = std::move(levels);
  info.mpp_y = info.mpp_x = 0.25;
  return info;
}

TEST(SlidePlan, CopiesTheLevelsOfAnAperioPyramidAndEncodesThoseBetween) {
  // 1, 4 and 16 times smaller, rounded down, as Aperio has it.
  const auto info = slide({{32914, 46001, 1}, {8228, 11500, 4}, {2057, 2875, 16}});
  const FakeTiles tiles(
      {{32914, 46001, 240, 240}, {8228, 11500, 240, 240}, {2057, 2875, 240, 240}});
  const SlidePlan plan = plan_slide(info, &tiles, {}, std::nullopt);
  EXPECT_EQ(plan.codec, SlideCodec::jpeg);
  EXPECT_EQ(plan.chunk, 240);
  EXPECT_EQ(plan.shard % 240, 0);
  EXPECT_EQ(plan.shard % 2, 0);
  std::vector<int> copied;
  for (int k = 0; k < static_cast<int>(plan.levels.size()); ++k) {
    if (plan.levels[static_cast<std::size_t>(k)].tiles_level) copied.push_back(k);
  }
  EXPECT_EQ(copied, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(plan.levels[1].size, (LevelSize{16457, 23001}));
  EXPECT_EQ(plan.levels[2].size, (LevelSize{8228, 11500}));
  ASSERT_EQ(plan.runs.size(), 3U);
  EXPECT_EQ(plan.runs[0].first, 0);
  EXPECT_EQ(plan.runs[0].last, 1);
  EXPECT_FALSE(plan.runs[0].write_first);
  EXPECT_EQ(plan.runs[2].first, 4);
  EXPECT_EQ(plan.runs[2].last, static_cast<int>(plan.levels.size()) - 1);
  EXPECT_EQ(plan.tissue_level, 5);  // 0.25 · 32 = 8 micrometres
  EXPECT_EQ(plan.cell_px, 512);
}

TEST(SlidePlan, CopiesJpeg2000AndEncodesTheLevelsBetweenAsJpeg) {
  const auto info = slide({{32914, 46001, 1}, {8228, 11500, 4}});
  const FakeTiles tiles({{32914, 46001, 256, 256}, {8228, 11500, 256, 256}},
                        imaging::TileCodec::jpeg2k);
  for (const SlideCodec asked : {SlideCodec::automatic, SlideCodec::jpeg2k}) {
    SlideIngestOptions options;
    options.codec = asked;
    const SlidePlan plan = plan_slide(info, &tiles, options, std::nullopt);
    EXPECT_EQ(plan.codec, SlideCodec::jpeg2k);
    EXPECT_EQ(plan.chunk, 256);
    for (int k = 0; k < static_cast<int>(plan.levels.size()); ++k) {
      const bool copied = k == 0 || k == 2;
      const std::string codecs = plan.image_array(k).codecs.dump();
      EXPECT_EQ(codecs.find("imagecodecs_jpeg2k") != codecs.npos, copied) << k;
      EXPECT_EQ(codecs.find("\"imagecodecs_jpeg\"") != codecs.npos, !copied) << k;
      EXPECT_NE(codecs.find("crc32c"), codecs.npos);
      EXPECT_NE(plan.label_array(k).codecs.dump().find("blosc"), codecs.npos);
    }
  }
  SlideIngestOptions options;
  options.codec = SlideCodec::jpeg;  // JPEG 2000 is not JPEG
  EXPECT_FALSE(plan_slide(info, &tiles, options, std::nullopt).levels[0].tiles_level);
  options.codec = SlideCodec::jpeg2k;
  options.chunk = 128;
  EXPECT_THROW(plan_slide(info, &tiles, options, std::nullopt), Error);
  options.chunk = 0;
  EXPECT_THROW(plan_slide(info, nullptr, options, std::nullopt), Error);
  const FakeTiles jpegs({{32914, 46001, 256, 256}});
  EXPECT_THROW(plan_slide(info, &jpegs, options, std::nullopt), Error);
  // Tiles that are no chunks are decoded, as before.
  for (const std::int64_t edge : {100, 8192}) {
    const FakeTiles odd({{32914, 46001, edge, edge}}, imaging::TileCodec::jpeg2k);
    EXPECT_EQ(plan_slide(info, &odd, {}, std::nullopt).codec, SlideCodec::blosc_zstd) << edge;
  }
}

TEST(SlidePlan, IsOnePassWithoutTilesAndEndsAtASmallLevel) {
  const SlidePlan plan = plan_slide(slide({{20000, 10000, 1}}), nullptr, {}, std::nullopt);
  EXPECT_EQ(plan.codec, SlideCodec::blosc_zstd);
  ASSERT_EQ(plan.runs.size(), 1U);
  EXPECT_TRUE(plan.runs[0].write_first);
  EXPECT_EQ(plan.levels.back().size, (LevelSize{313, 157}));
  EXPECT_EQ(plan.levels.size(), 7U);
}

TEST(SlidePlan, MakesShardsNoLargerThanTheLevel) {
  const SlidePlan plan = plan_slide(slide({{300, 900, 1}}), nullptr, {}, std::nullopt);
  const auto array = plan.image_array(0);
  EXPECT_EQ(array.chunk_shape, (std::vector<std::int64_t>{3, 384, 1024}));
  EXPECT_LE(8 << plan.tissue_level, plan.cell_px);
}

TEST(SlidePlan, RefusesChunksAndShardsThatDoNotFit) {
  for (const auto& [chunk, shard] : {std::pair{100, 0}, {8, 0}, {128, 200}, {128, 32768}}) {
    SlideIngestOptions options;
    options.chunk = chunk;
    options.shard = shard;
    EXPECT_THROW(plan_slide(slide({{300, 900, 1}}), nullptr, options, std::nullopt), Error)
        << chunk << " " << shard;
  }
}

TEST(SlidePlan, AlignsChunksWhereThatIsAskedFor) {
  for (const std::int64_t align : {0, 512, 4096}) {
    SlideIngestOptions options;
    options.align = align;
    const SlidePlan plan = plan_slide(slide({{300, 900, 1}}), nullptr, options, std::nullopt);
    EXPECT_EQ(plan.align, align == 0 ? 1u : static_cast<std::size_t>(align));
  }
}

std::vector<int> averaged_levels(const SlidePlan& plan) {
  std::vector<int> levels;
  for (int k = 0; k < static_cast<int>(plan.levels.size()); ++k) {
    if (plan.levels[static_cast<std::size_t>(k)].averaged) levels.push_back(k);
  }
  return levels;
}

TEST(SlidePlan, StatisticsOfColourComeFromALevelOfTheFileWhereTheNextIsOne) {
  const auto level_of = [](std::vector<imaging::SlideLevel> levels, double mpp) {
    return plan_slide(slide(std::move(levels)), nullptr, {}, mpp).colour_level;
  };
  const imaging::SlideLevel full{32000, 46000, 1}, half{16000, 23000, 2}, quarter{8000, 11500, 4};
  EXPECT_EQ(level_of({full, quarter}, 0.25), 2);
  EXPECT_EQ(level_of({full, quarter}, 0.5), 2);
  EXPECT_EQ(level_of({full, half, quarter}, 0.5), 1);
  EXPECT_EQ(level_of({full}, 0.5), 1);
  EXPECT_EQ(level_of({full, half}, 0.5), 1);
}

TEST(SlidePlan, ByReferenceOnlySmallLevelsAreReadAndKept) {
  SlideIngestOptions options;
  options.pixels = PixelsBy::reference;
  const auto info = slide({{32000, 46000, 1}, {8000, 11500, 4}, {2000, 2875, 16}});
  const FakeTiles tiles(
      {{32000, 46000, 256, 256}, {8000, 11500, 256, 256}, {2000, 2875, 256, 256}});
  const SlidePlan plan = plan_slide(info, &tiles, options, std::nullopt);
  EXPECT_TRUE(plan.by_reference);
  EXPECT_EQ(averaged_levels(plan), std::vector<int>{1});
  ASSERT_EQ(plan.runs.size(), 2U) << "no pass over level 0";
  EXPECT_EQ(plan.runs[0].first, 2);
  EXPECT_EQ(plan.runs[1].first, 4);
  EXPECT_FALSE(plan_slide(info, &tiles, {}, std::nullopt).by_reference);
}

TEST(SlidePlan, ByReferenceALevelOfTheStatisticsIsKept) {
  SlideIngestOptions options;
  options.pixels = PixelsBy::reference;
  const FakeTiles tiles({{32000, 46000, 256, 256}});
  EXPECT_EQ(averaged_levels(plan_slide(slide({{32000, 46000, 1}}), &tiles, options, 0.25)),
            std::vector<int>{1});
  EXPECT_TRUE(
      averaged_levels(plan_slide(slide({{32000, 46000, 1}}), &tiles, options, 0.5)).empty());
}

}  // namespace
}  // namespace headrace::ingest
