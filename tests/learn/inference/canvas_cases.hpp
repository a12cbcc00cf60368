#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "learn/inference/stitcher.hpp"
#include "learn/inference/window.hpp"

namespace headrace::fixtures {

/// Random tiles over a few images, in a stitcher's order. `overlap`: part of an edge that
/// neighbours share; every third tile is left out, corners lie outside, and some tiles miss their
/// image altogether.
struct CanvasCase {
  std::int64_t classes;
  std::array<std::int64_t, 3> tile_zyx;
  double overlap;
  bool alike = false;  ///< every class has the same probability everywhere
  bool with_truth = true;

  std::vector<std::array<std::int64_t, 3>> images_zyx{};
  std::vector<std::vector<float>> probabilities{};
  std::vector<std::vector<std::uint8_t>> truth{};
  std::vector<inference::TileResult> tiles{};

  void make(std::uint32_t seed) {
    const bool slides = tile_zyx[0] == 1;
    images_zyx =
        slides ? std::vector<std::array<std::int64_t, 3>>{{1, 61, 37}, {1, 5, 90}, {1, 23, 24}}
               : std::vector<std::array<std::int64_t, 3>>{{23, 15, 17}, {3, 20, 9}, {11, 8, 30}};
    std::mt19937 random(seed);
    for (std::uint32_t image = 0; image < images_zyx.size(); ++image)
      cover(2 * image + 1, image, random);
  }
  /// Images have odd numbers.
  std::array<std::int64_t, 3> extent(std::uint32_t number) const { return images_zyx[number / 2]; }
  std::int64_t most_pixels() const {
    std::int64_t most = 0;
    for (const auto& zyx : images_zyx)
      most = std::max(most, tile_zyx[0] == 1 ? zyx[2] : zyx[1] * zyx[2]);
    return most;
  }
  /// Of an even number of classes Gaussian, else linear.
  inference::Stitcher::Window window() const {
    inference::Stitcher::Window out;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto shared = static_cast<std::int64_t>(overlap * static_cast<double>(tile_zyx[axis]));
      out[axis] = classes % 2 == 0 ? inference::gaussian_window(tile_zyx[axis])
                                   : inference::linear_window(tile_zyx[axis], shared);
    }
    return out;
  }

 private:
  std::vector<std::int64_t> corners(std::size_t axis, std::int64_t extent) const {
    if (tile_zyx[axis] == 1) return {0};
    const auto step = std::max<std::int64_t>(
        1,
        tile_zyx[axis] - static_cast<std::int64_t>(overlap * static_cast<double>(tile_zyx[axis])));
    std::vector<std::int64_t> out;
    for (std::int64_t at = -tile_zyx[axis] / 3; at < extent + 1; at += step) out.push_back(at);
    return out;
  }
  void cover(std::uint32_t number, std::size_t image, std::mt19937& random) {
    const auto voxels = static_cast<std::size_t>(tile_zyx[0] * tile_zyx[1] * tile_zyx[2]);
    std::uniform_real_distribution<float> real(0, 1);
    std::uniform_int_distribution<int> label(0, static_cast<int>(classes));
    int count = 0;
    for (const std::int64_t z : corners(0, images_zyx[image][0])) {
      for (const std::int64_t y : corners(1, images_zyx[image][1])) {
        for (const std::int64_t x : corners(2, images_zyx[image][2])) {
          if (++count % 3 == 0) continue;
          auto& p = probabilities.emplace_back(static_cast<std::size_t>(classes) * voxels);
          for (float& value : p) value = alike ? 1.0f / static_cast<float>(classes) : real(random);
          auto& t = truth.emplace_back(voxels);
          for (auto& value : t) {
            const int drawn = label(random);
            value = drawn == classes ? 255 : static_cast<std::uint8_t>(drawn);
          }
          tiles.push_back({number, {z, y, x}, p.data(), with_truth ? t.data() : nullptr});
        }
      }
    }
  }
};

}  // namespace headrace::fixtures
