#include "learn/inference/stitcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "learn/inference/window.hpp"

namespace headrace::inference {
namespace {

constexpr std::int64_t kClasses = 3, kTileH = 8, kTileW = 12;

Stitcher::Window linear(const std::array<std::int64_t, 3>& tile, std::int64_t overlap) {
  return {linear_window(tile[0], overlap), linear_window(tile[1], overlap),
          linear_window(tile[2], overlap)};
}
Stitcher::Window gaussian(const std::array<std::int64_t, 3>& tile) {
  return {gaussian_window(tile[0]), gaussian_window(tile[1]), gaussian_window(tile[2])};
}

/// A field of class probabilities over a plane: one network's prediction for the whole image.
float field(std::int64_t c, std::int64_t y, std::int64_t x) {
  return static_cast<float>(1.5 + std::sin(0.31 * y + 0.17 * x + 2.1 * c));
}
std::uint8_t winner(std::int64_t y, std::int64_t x) {
  std::uint8_t best = 0;
  for (std::uint8_t c = 1; c < kClasses; ++c) {
    if (field(c, y, x) > field(best, y, x)) best = c;
  }
  return best;
}
std::uint8_t truth_at(std::int64_t y, std::int64_t x) {
  return (y + x) % 5 == 0 ? 255 : static_cast<std::uint8_t>((y / 3 + x) % kClasses);
}

struct Tile {
  std::vector<float> probabilities;
  std::vector<std::uint8_t> truth;
  Tile(std::int64_t y0, std::int64_t x0) {
    for (std::int64_t c = 0; c < kClasses; ++c) {
      for (std::int64_t y = y0; y < y0 + kTileH; ++y) {
        for (std::int64_t x = x0; x < x0 + kTileW; ++x) probabilities.push_back(field(c, y, x));
      }
    }
    for (std::int64_t y = y0; y < y0 + kTileH; ++y) {
      for (std::int64_t x = x0; x < x0 + kTileW; ++x) truth.push_back(truth_at(y, x));
    }
  }
};

struct Rows {
  std::map<std::pair<std::uint32_t, std::int64_t>,
           std::pair<std::vector<std::uint8_t>, std::vector<std::uint8_t>>>
      all;
  Stitcher::Sink sink() {
    return [this](const StitchedPart& row) {
      const bool fresh =
          all.try_emplace({row.image, row.at},
                          std::vector<std::uint8_t>(row.predicted.begin(), row.predicted.end()),
                          std::vector<std::uint8_t>(row.truth.begin(), row.truth.end()))
              .second;
      EXPECT_TRUE(fresh) << "row " << row.at << " twice";
    };
  }
};

void add(Stitcher& stitcher, std::uint32_t image, std::int64_t y, std::int64_t x) {
  const Tile tile(y, x);
  stitcher.add({image, {0, y, x}, tile.probabilities.data(), tile.truth.data()});
}

TEST(Stitcher, OverlappingTilesGiveTheWholeImage) {
  constexpr std::int64_t kHeight = 29, kWidth = 41;
  Rows rows;
  Stitcher stitcher(
      kClasses, linear({1, kTileH, kTileW}, 3),
      [&](std::uint32_t) {
        return std::array<std::int64_t, 3>{1, kHeight, kWidth};
      },
      rows.sink());
  for (std::uint32_t image : {2u, 5u}) {
    for (const std::int64_t y : {0, 5, 10, 15, 20, 21}) {
      for (const std::int64_t x : {0, 9, 18, 27, 29}) add(stitcher, image, y, x);
    }
  }
  stitcher.finish();
  ASSERT_EQ(rows.all.size(), 2u * kHeight);
  for (const auto& [key, row] : rows.all) {
    for (std::int64_t x = 0; x < kWidth; ++x) {
      EXPECT_EQ(row.first[static_cast<std::size_t>(x)], winner(key.second, x))
          << key.second << "," << x;
      EXPECT_EQ(row.second[static_cast<std::size_t>(x)], truth_at(key.second, x));
    }
  }
}

TEST(Stitcher, WhatNoTileCoversIsMarked) {
  Rows rows;
  Stitcher stitcher(
      kClasses, linear({1, kTileH, kTileW}, 2),
      [](std::uint32_t) {
        return std::array<std::int64_t, 3>{1, 40, 30};
      },
      rows.sink());
  add(stitcher, 0, 4, 6);
  add(stitcher, 0, 20, 10);
  stitcher.finish();
  ASSERT_EQ(rows.all.size(), 40u);
  for (const auto& [key, row] : rows.all) {
    for (std::int64_t x = 0; x < 30; ++x) {
      const std::int64_t y = key.second;
      const bool covered =
          (y >= 4 && y < 12 && x >= 6 && x < 18) || (y >= 20 && y < 28 && x >= 10 && x < 22);
      EXPECT_EQ(row.first[static_cast<std::size_t>(x)], covered ? winner(y, x) : 255)
          << y << "," << x;
      if (!covered) {
        EXPECT_EQ(row.second[static_cast<std::size_t>(x)], 255);
      }
    }
  }
}

TEST(Stitcher, TilesThatStickOutAreCut) {
  Rows rows;
  Stitcher stitcher(
      kClasses, linear({1, kTileH, kTileW}, 2),
      [](std::uint32_t) {
        return std::array<std::int64_t, 3>{1, 5, 7};
      },
      rows.sink());
  add(stitcher, 0, -1, -2);
  stitcher.finish();
  ASSERT_EQ(rows.all.size(), 5u);
  for (const auto& [key, row] : rows.all) {
    ASSERT_EQ(row.first.size(), 7u);
    for (std::int64_t x = 0; x < 7; ++x)
      EXPECT_EQ(row.first[static_cast<std::size_t>(x)], winner(key.second, x));
  }
}

TEST(Stitcher, TheMiddleOfATileOutweighsAnothersEdge) {
  // Two tiles disagree by the same margin on column 11: the last of the first, the fourth of the
  // second.
  std::vector<std::uint8_t> predicted;
  Stitcher stitcher(
      2, linear({1, 1, 12}, 4),
      [](std::uint32_t) {
        return std::array<std::int64_t, 3>{1, 1, 20};
      },
      [&](const StitchedPart& row) {
        predicted.assign(row.predicted.begin(), row.predicted.end());
      });
  std::vector<float> zero(24, 0.4f), one(24, 0.4f);
  for (int x = 0; x < 12; ++x) zero[x] = one[12 + x] = 0.6f;
  stitcher.add({0, {0, 0, 0}, zero.data(), nullptr});
  stitcher.add({0, {0, 0, 8}, one.data(), nullptr});
  stitcher.finish();
  EXPECT_EQ(predicted[8], 0);
  EXPECT_EQ(predicted[11], 1);
}

TEST(Stitcher, TilesOfAVolumeGiveItsSlices) {
  // Probabilities of one field over the volume: blending must give it back wherever tiles lie.
  constexpr std::int64_t kDepth = 11, kHeight = 9, kWidth = 14, kTile = 6;
  const auto p1 = [](std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<float>(0.5 + 0.5 * std::sin(0.7 * z + 0.4 * y + 0.9 * x));
  };
  std::int64_t next = 0;
  Stitcher stitcher(
      2, gaussian({kTile, kTile, kTile}),
      [&](std::uint32_t) {
        return std::array<std::int64_t, 3>{kDepth, kHeight, kWidth};
      },
      [&](const StitchedPart& slice) {
        ASSERT_EQ(slice.at, next++);
        ASSERT_EQ(slice.predicted.size(), static_cast<std::size_t>(kHeight * kWidth));
        for (std::int64_t y = 0; y < kHeight; ++y) {
          for (std::int64_t x = 0; x < kWidth; ++x) {
            const auto i = static_cast<std::size_t>(y * kWidth + x);
            const float expected = p1(slice.at, y, x);
            EXPECT_NEAR(slice.probabilities[static_cast<std::size_t>(kHeight * kWidth) + i],
                        expected, 1e-6);
            if (std::abs(expected - 0.5f) > 1e-3f) {
              EXPECT_EQ(slice.predicted[i], expected > 0.5f ? 1 : 0);
            }
            EXPECT_EQ(slice.truth[i], (slice.at + 2 * y + 3 * x) % 5);
          }
        }
      });
  for (const std::int64_t z0 : {0, 4, 5}) {
    for (const std::int64_t y0 : {-1, 3}) {
      for (const std::int64_t x0 : {0, 4, 8}) {
        std::vector<float> probabilities(2 * kTile * kTile * kTile);
        std::vector<std::uint8_t> truth(kTile * kTile * kTile);
        std::size_t i = 0;
        for (std::int64_t z = z0; z < z0 + kTile; ++z) {
          for (std::int64_t y = y0; y < y0 + kTile; ++y) {
            for (std::int64_t x = x0; x < x0 + kTile; ++x, ++i) {
              probabilities[truth.size() + i] = p1(z, y, x);
              probabilities[i] = 1 - p1(z, y, x);
              truth[i] = static_cast<std::uint8_t>((z + 2 * y + 3 * x) % 5);
            }
          }
        }
        stitcher.add({0, {z0, y0, x0}, probabilities.data(), truth.data()});
      }
    }
  }
  stitcher.finish();
  EXPECT_EQ(next, kDepth);
}

/// Values of scipy.signal.windows.gaussian(8, 1) and (5, 0.625), SciPy 1.17.1.
TEST(GaussianWindow, IsThatOfSciPyWithSigmaAnEighthOfTheEdge) {
  const std::vector<float> eight = gaussian_window(8), five = gaussian_window(5);
  const std::vector<float> half{0.00218749112f, 0.0439369336f, 0.324652467f, 0.882496903f};
  ASSERT_EQ(eight.size(), 8u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(eight[i], half[i]);
    EXPECT_EQ(eight[7 - i], eight[i]);
  }
  EXPECT_FLOAT_EQ(five[0], 0.0059760229f);
  EXPECT_FLOAT_EQ(five[1], 0.2780373f);
  EXPECT_EQ(five[2], 1.0f);
  EXPECT_EQ(gaussian_window(1), std::vector<float>{1.0f});
  for (const std::int64_t size : {2, 96, 512, 8192}) {
    EXPECT_GT(gaussian_window(size).front(), std::exp(-8.0f)) << size;
  }
}

/// A volume blended from tiles with half of their edges shared, the last flush with the end.
struct Blended {
  std::array<std::int64_t, 3> extent{17, 15, 22}, tile{8, 10, 12};
  std::vector<float> probabilities;  ///< (z, class, y, x)

  /// `value(tile, class, i)`: what tile number `tile` says of its voxel `i`.
  template <typename Value>
  explicit Blended(const Value& value) {
    Stitcher stitcher(
        3, gaussian(tile), [&](std::uint32_t) { return extent; },
        [&](const StitchedPart& part) {
          probabilities.insert(probabilities.end(), part.probabilities.begin(),
                               part.probabilities.end());
        });
    const auto voxels = static_cast<std::size_t>(tile[0] * tile[1] * tile[2]);
    for_tiles([&](std::size_t number, const std::array<std::int64_t, 3>& corner) {
      std::vector<float> said(3 * voxels);
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t i = 0; i < voxels; ++i) said[c * voxels + i] = value(number, c, i);
      }
      stitcher.add({0, corner, said.data(), nullptr});
    });
    stitcher.finish();
  }
  template <typename Use>
  void for_tiles(const Use& use) const {
    std::size_t number = 0;
    for (const std::int64_t z : {0, 4, 8, 9}) {
      for (const std::int64_t y : {0, 5}) {
        for (const std::int64_t x : {0, 6, 10}) use(number++, {z, y, x});
      }
    }
  }
};

float any_value(std::size_t tile, std::size_t c, std::size_t i) {
  return static_cast<float>(0.5 + 0.5 * std::sin(0.7 * tile + 1.3 * c + 0.11 * i));
}

TEST(Stitcher, WhatAllTilesSayComesOutToTheLastBit) {
  const std::array<float, 3> said{0.1f, 0.7000003f, 0.2f};
  const Blended blended([&](std::size_t, std::size_t c, std::size_t) { return said[c]; });
  const auto plane = static_cast<std::size_t>(blended.extent[1] * blended.extent[2]);
  ASSERT_EQ(blended.probabilities.size(), 17 * 3 * plane);
  for (std::size_t i = 0; i < blended.probabilities.size(); ++i) {
    ASSERT_EQ(blended.probabilities[i], said[i / plane % 3]) << i;
  }
}

TEST(Stitcher, EqualsTheWeightedMeanInDoublePrecision) {
  const Blended blended(any_value);
  const auto& [depth, height, width] = blended.extent;
  const auto& tile = blended.tile;
  std::vector<double> sum(blended.probabilities.size()), weight(sum.size());
  const auto weight_at = [&](std::size_t axis, std::int64_t i) {
    const double d = (double(i) - (double(tile[axis]) - 1) / 2) / (double(tile[axis]) / 8);
    return std::exp(-d * d / 2);
  };
  blended.for_tiles([&](std::size_t number, const std::array<std::int64_t, 3>& corner) {
    std::size_t i = 0;
    for (std::int64_t z = 0; z < tile[0]; ++z) {
      for (std::int64_t y = 0; y < tile[1]; ++y) {
        for (std::int64_t x = 0; x < tile[2]; ++x, ++i) {
          for (std::size_t c = 0; c < 3; ++c) {
            const auto at = static_cast<std::size_t>(
                (((corner[0] + z) * 3 + static_cast<std::int64_t>(c)) * height + corner[1] + y) *
                    width +
                corner[2] + x);
            const double w = weight_at(0, z) * weight_at(1, y) * weight_at(2, x);
            sum[at] += w * double(any_value(number, c, i));
            weight[at] += w;
          }
        }
      }
    }
  });
  ASSERT_EQ(sum.size(), static_cast<std::size_t>(depth * 3 * height * width));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    ASSERT_NEAR(blended.probabilities[i], sum[i] / weight[i], 5e-7) << i;
  }
}

/// Parts of an image (1, 61, 50) of tiles that overlap, given `batch` at a time; taken: the sink
/// keeps their memory.
std::vector<StitchedPart> stitched_by(std::size_t batch, ThreadPool* pool, bool taken) {
  std::vector<StitchedPart> parts;
  Stitcher stitcher(
      3, gaussian({1, 16, 16}),
      [](std::uint32_t) {
        return std::array<std::int64_t, 3>{1, 61, 50};
      },
      [&](StitchedPart& part) { parts.push_back(taken ? std::move(part) : part); }, pool);
  std::vector<std::vector<float>> values;
  std::vector<TileResult> tiles;
  for (const std::uint32_t image : {0u, 3u}) {
    for (const std::int64_t y : {-4, 7, 18, 29, 52}) {  // no tile reaches row 45
      for (const std::int64_t x : {-3, 8, 19, 30}) {
        auto& own = values.emplace_back(3 * 256);
        for (std::size_t i = 0; i < own.size(); ++i)
          own[i] = any_value(values.size(), i / 256, i % 256);
        tiles.push_back({image, {0, y, x}, nullptr, nullptr});
      }
    }
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) tiles[i].probabilities = values[i].data();
  for (std::size_t i = 0; i < tiles.size(); i += batch)
    stitcher.add(std::span(tiles).subspan(i, std::min(batch, tiles.size() - i)));
  stitcher.finish();
  return parts;
}

TEST(Stitcher, BatchesThreadsAndTakenPartsChangeNothing) {
  const auto expected = stitched_by(1, nullptr, false);
  ASSERT_EQ(expected.size(), 2u * 61);
  EXPECT_TRUE(expected[44].covered);
  EXPECT_FALSE(expected[45].covered);
  EXPECT_EQ(expected[45].predicted, std::vector<std::uint8_t>(50, kIgnoreLabel));
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (const std::size_t batch : {1u, 3u, 16u, 40u}) {
      for (const bool taken : {false, true}) {
        const auto parts = stitched_by(batch, &pool, taken);
        ASSERT_EQ(parts.size(), expected.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
          ASSERT_EQ(parts[i].image, expected[i].image);
          ASSERT_EQ(parts[i].at, expected[i].at);
          ASSERT_EQ(parts[i].covered, expected[i].covered) << i;
          ASSERT_EQ(parts[i].predicted, expected[i].predicted) << i;
          ASSERT_EQ(parts[i].probabilities, expected[i].probabilities) << i;
        }
      }
    }
  }
}

TEST(Stitcher, TilesOutOfOrderAreABug) {
  Stitcher stitcher(
      kClasses, linear({1, kTileH, kTileW}, 2),
      [](std::uint32_t) {
        return std::array<std::int64_t, 3>{1, 40, 30};
      },
      [](const StitchedPart&) {});
  add(stitcher, 1, 10, 0);
  EXPECT_THROW(add(stitcher, 1, 9, 0), Error);
  EXPECT_THROW(add(stitcher, 0, 0, 0), Error);
}

}  // namespace
}  // namespace headrace::inference
