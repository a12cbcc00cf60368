#include "headrace/ingest/slide/slide_sites.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "headrace/core/threads.hpp"
#include "tests/loader/fixture_sites.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kHeight = 300, kWidth = 421;

std::vector<std::uint8_t> random_labels() {
  std::mt19937 random(7);
  std::vector<std::uint8_t> labels(kHeight * kWidth);
  for (int n = 0; n < 60; ++n) {
    const auto cy = static_cast<std::int64_t>(random() % kHeight),
               cx = static_cast<std::int64_t>(random() % kWidth),
               r = static_cast<std::int64_t>(random() % 18);
    const auto value = static_cast<std::uint8_t>(n % 7 == 0 ? 255 : n % 5 == 0 ? 200 : 1 + n % 3);
    for (std::int64_t y = std::max<std::int64_t>(0, cy - r); y < std::min(kHeight, cy + r + 1);
         ++y) {
      for (std::int64_t x = std::max<std::int64_t>(0, cx - r); x < std::min(kWidth, cx + r + 1);
           ++x)
        labels[static_cast<std::size_t>(y * kWidth + x)] = value;
    }
  }
  labels.front() = 1;
  labels.back() = 2;
  return labels;
}

/// The same by plain counting: cells of 64, thus parts of 2 and blocks of 32.
std::vector<std::uint32_t> plain(const std::vector<std::uint8_t>& labels) {
  fixtures::PlainSites sites{{1, kHeight, kWidth}, {1, 32, 32}, {1, 2, 2}, 2, {}};
  const fixtures::Index3 parts{1, (kHeight + 1) / 2, (kWidth + 1) / 2};
  for (const std::uint8_t value : {1, 2, 3, 200}) {
    std::vector<bool> mask(static_cast<std::size_t>(parts[1] * parts[2]));
    const auto part = [&](std::int64_t i) {
      return static_cast<std::size_t>(i / kWidth / 2 * parts[2] + i % kWidth / 2);
    };
    for (std::int64_t i = 0; i < kHeight * kWidth; ++i) {
      if (labels[static_cast<std::size_t>(i)] == value) mask[part(i)] = true;
    }
    const auto number = fixtures::plain_components(parts, mask);
    for (std::int64_t i = 0; i < kHeight * kWidth; ++i) {
      if (labels[static_cast<std::size_t>(i)] == value)
        sites.add({0, i / kWidth, i % kWidth}, value, static_cast<std::uint32_t>(number[part(i)]));
    }
  }
  return sites.rows(true);
}

std::vector<std::uint32_t> rows_of(const SlideSites& sites) {
  std::vector<std::uint32_t> rows;
  for (const cohort::SiteBlock& block : sites.blocks()) {
    rows.insert(rows.end(), {block.place_zyx[1], block.place_zyx[2], block.class_value,
                             block.region, block.pixels});
    append_parts(block.parts, rows);
  }
  return rows;
}

TEST(SlideSites, AreThePlainCountsAndComponentsWhateverTheTilesAndThreads) {
  const auto labels = random_labels();
  const auto expected = plain(labels);
  EXPECT_GT(expected.size(), 1000u);
  for (const std::int64_t tile : {30, 64, 500}) {
    for (const int threads : {1, 3}) {
      SlideSites sites(kHeight, kWidth, 64);
      const std::int64_t across = (kWidth + tile - 1) / tile;
      ThreadPool pool(threads);
      pool.parallel_for(static_cast<std::size_t>((kHeight + tile - 1) / tile * across),
                        [&](std::size_t i) {
                          const auto n = static_cast<std::int64_t>(i);
                          Box2 box{n / across * tile, n % across * tile, 0, 0};
                          box.height = std::min(tile, kHeight - box.y0);
                          box.width = std::min(tile, kWidth - box.x0);
                          std::vector<std::uint8_t> of_tile;
                          for (std::int64_t y = box.y0; y < box.y0 + box.height; ++y) {
                            const auto row = labels.begin() + y * kWidth + box.x0;
                            of_tile.insert(of_tile.end(), row, row + box.width);
                          }
                          sites.add(box, of_tile.data());
                        });
      EXPECT_EQ(rows_of(sites), expected) << "tiles of " << tile << ", " << threads << " threads";
    }
  }
}

TEST(SlideSites, OfNothingAreNone) {
  SlideSites sites(100, 100, 32);
  const std::vector<std::uint8_t> background(100 * 100);
  sites.add({0, 0, 100, 100}, background.data());
  EXPECT_TRUE(sites.blocks().empty());
}

}  // namespace
}  // namespace headrace::ingest
