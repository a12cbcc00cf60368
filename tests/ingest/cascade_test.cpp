#include "headrace/ingest/slide/cascade.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "headrace/core/threads.hpp"
#include "headrace/ingest/slide/pick_cascade.hpp"

namespace headrace::ingest {
namespace {

using Plane = std::vector<std::uint8_t>;

Plane noise(std::int64_t bytes, std::uint64_t seed) {
  Plane plane(static_cast<std::size_t>(bytes));
  std::uint64_t state = seed;
  for (auto& byte : plane) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  return plane;
}

std::vector<LevelSize> halvings(LevelSize size, int count) {
  std::vector<LevelSize> sizes{size};
  while (static_cast<int>(sizes.size()) < count) {
    sizes.push_back({(sizes.back().height + 1) / 2, (sizes.back().width + 1) / 2});
  }
  return sizes;
}

/// The stated average, pixel by pixel and in floating point: round half up of the mean of what
/// exists.
Plane plain_half(const Plane& src, LevelSize from, LevelSize to, int channels) {
  Plane dst(static_cast<std::size_t>(to.height * to.width * channels));
  for (std::int64_t y = 0; y < to.height; ++y) {
    for (std::int64_t x = 0; x < to.width; ++x) {
      for (int c = 0; c < channels; ++c) {
        double sum = 0, count = 0;
        for (std::int64_t sy = 2 * y; sy < std::min(from.height, 2 * y + 2); ++sy) {
          for (std::int64_t sx = 2 * x; sx < std::min(from.width, 2 * x + 2); ++sx) {
            sum += src[static_cast<std::size_t>((sy * from.width + sx) * channels + c)];
            ++count;
          }
        }
        dst[static_cast<std::size_t>((y * to.width + x) * channels + c)] =
            static_cast<std::uint8_t>(sum / count + 0.5);
      }
    }
  }
  return dst;
}

template <typename Cascade>
void deliver_all(Cascade& cascade, device::BufferPool& buffers, const Plane& base,
                 std::int64_t width, int channels, int threads) {
  ThreadPool pool(threads);
  pool.parallel_for(cascade.base_tiles().size(), [&](std::size_t i) {
    const TileIndex index = cascade.base_tiles()[i];
    const Box2 box = cascade.box(0, index);
    auto lease = buffers.take(static_cast<std::size_t>(box.height * box.width * channels));
    for (std::int64_t y = 0; y < box.height; ++y) {
      const auto* src = &base[static_cast<std::size_t>(((box.y0 + y) * width + box.x0) * channels)];
      std::copy(src, src + box.width * channels, lease.data() + y * box.width * channels);
    }
    cascade.deliver(index, std::move(lease));
  });
}

/// Puts tiles together, and counts how often each pixel was given.
struct Collected {
  std::vector<Plane> levels;
  std::mutex mutex;
  int tiles = 0;

  explicit Collected(const std::vector<LevelSize>& sizes, int channels) {
    for (const auto& size : sizes)
      levels.emplace_back(static_cast<std::size_t>(size.height * size.width * channels));
  }
  void add(const CascadeTile& tile, std::int64_t width, int channels) {
    const std::lock_guard lock(mutex);
    ++tiles;
    for (std::int64_t y = 0; y < tile.box.height; ++y) {
      const auto* src = tile.pixels + y * tile.box.width * channels;
      std::copy(src, src + tile.box.width * channels,
                &levels[static_cast<std::size_t>(tile.level)][static_cast<std::size_t>(
                    ((tile.box.y0 + y) * width + tile.box.x0) * channels)]);
    }
  }
};

TEST(AverageCascade, GivesEveryLevelAsStatedForAnySizeAndThreads) {
  for (const LevelSize size :
       {LevelSize{1, 1}, {5, 3}, {16, 16}, {17, 33}, {64, 47}, {129, 65}, {100, 161}}) {
    for (const int channels : {1, 3}) {
      for (const int threads : {1, 4}) {
        const auto sizes = halvings(size, 5);
        const Plane base = noise(size.height * size.width * channels, 11);
        Collected got(sizes, channels);
        device::BufferPool buffers(1 << 20);
        AverageCascade cascade(sizes, 16, channels, buffers, [&](const CascadeTile& tile) {
          got.add(tile, sizes[static_cast<std::size_t>(tile.level)].width, channels);
        });
        deliver_all(cascade, buffers, base, size.width, channels, threads);
        Plane expected = base;
        int tiles = 0;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
          if (k > 0) expected = plain_half(expected, sizes[k - 1], sizes[k], channels);
          ASSERT_EQ(got.levels[k], expected) << size.height << "x" << size.width << " level " << k;
          tiles += static_cast<int>((sizes[k].height + 15) / 16 * ((sizes[k].width + 15) / 16));
        }
        EXPECT_EQ(got.tiles, tiles);
      }
    }
  }
}

TEST(PickCascade, TakesTheLevel0ValueUnderEachCentre) {
  for (const LevelSize size : {LevelSize{1, 1}, {5, 3}, {17, 33}, {64, 47}, {129, 65}}) {
    const auto sizes = halvings(size, 6);
    const Plane base = noise(size.height * size.width, 5);
    Collected got(sizes, 1);
    device::BufferPool buffers(1 << 20);
    PickCascade cascade(sizes, 16, buffers, [&](const CascadeTile& tile) {
      got.add(tile, sizes[static_cast<std::size_t>(tile.level)].width, 1);
    });
    deliver_all(cascade, buffers, base, size.width, 1, 3);
    for (int k = 0; k < 6; ++k) {
      const LevelSize& level = sizes[static_cast<std::size_t>(k)];
      for (std::int64_t y = 0; y < level.height; ++y) {
        for (std::int64_t x = 0; x < level.width; ++x) {
          const std::int64_t half = k == 0 ? 0 : std::int64_t{1} << (k - 1);
          const auto sy = std::min((y << k) + half, size.height - 1),
                     sx = std::min((x << k) + half, size.width - 1);
          ASSERT_EQ(got.levels[static_cast<std::size_t>(k)]
                              [static_cast<std::size_t>(y * level.width + x)],
                    base[static_cast<std::size_t>(sy * size.width + sx)]);
        }
      }
    }
  }
}

TEST(TileOrder, KeepsTheFourTilesUnderAParentTogether) {
  const auto tiles = tiles_in_z_order(8, 8);
  ASSERT_EQ(tiles.size(), 64U);
  for (std::size_t i = 0; i < tiles.size(); i += 4) {
    for (std::size_t j = 1; j < 4; ++j) {
      EXPECT_EQ(tiles[i].y / 2, tiles[i + j].y / 2);
      EXPECT_EQ(tiles[i].x / 2, tiles[i + j].x / 2);
    }
  }
}

}  // namespace
}  // namespace headrace::ingest
