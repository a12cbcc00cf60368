#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "reference_model.hpp"
#include "tissue.hpp"

namespace headrace::transform {
namespace {

using fixtures::cut;
using fixtures::Level;

const std::vector<TransformSpec> kAll{AffineSpec{{-180, 180}, {0.8, 1.25}, {-5, 5}, 0.1, true},
                                      ElasticSpec{8, 15, 1}};

PatchSpec patch_of(int height, int width, std::vector<int> context = {1}) {
  return {height, width, 0.5, std::move(context)};
}

std::vector<float> gather(const Graph& graph, const SampleParams& params, const PatchGeometry& g,
                          const Level& level, std::uint8_t poison = 0) {
  Scratch scratch;
  const auto window = cut(level.rgb, level.height, level.width, 3, g.window, poison);
  std::vector<float> out(3u * graph.patch().height * graph.patch().width);
  graph.image(params, g, window.view, window.extent, out.data(), scratch);
  return out;
}

TEST(Geometry, WithoutTransformsPixelsAreCopied) {
  const Level level(90, 120, 1);
  const Graph graph = Graph::compile({}, patch_of(33, 45));
  const auto params = graph.draw({1, 2, 3}, {}, true);
  PatchGeometry g;
  graph.locate(*params, 1, {20 + 16.5, 30 + 22.5}, {0.5, 0.5}, g);
  const auto out = gather(graph, *params, g, level);
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < 33; ++y) {
      for (int x = 0; x < 45; ++x) {
        const float value = level.rgb[static_cast<std::size_t>(((20 + y) * 120 + 30 + x) * 3 + c)];
        ASSERT_EQ(out[static_cast<std::size_t>((c * 33 + y) * 45 + x)], value * (1.0f / 255))
            << y << " " << x << " " << c;
      }
    }
  }
}

TEST(Geometry, QuarterTurnsCounterClockwiseAreExact) {
  const Level level(100, 100, 2);
  const Graph graph =
      Graph::compile({AffineSpec{{90, 90}, {1, 1}, {0, 0}, 0, false}}, patch_of(40, 40));
  const auto params = graph.draw({1, 1, 1}, {}, true);
  PatchGeometry g;
  graph.locate(*params, 1, {50, 50}, {0.5, 0.5}, g);
  const auto out = gather(graph, *params, g, level);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 40; ++x) {
      // What was at the right edge is now at the top.
      const float value = level.rgb[static_cast<std::size_t>(((30 + x) * 100 + 30 + 39 - y) * 3)];
      ASSERT_EQ(out[static_cast<std::size_t>(y * 40 + x)], value * (1.0f / 255));
    }
  }
}

/// Tolerance: float32 coordinates in windows of up to some 900 pixels err by up to 4e-4 px, times
/// at most 255 levels a pixel.
TEST(Geometry, MatchesTheDoubleModel) {
  const Level level(900, 1000, 3);
  const PatchSpec patch = patch_of(96, 130, {1, 2, 4});
  const Graph graph = Graph::compile(kAll, patch);
  for (std::uint64_t index = 0; index < 12; ++index) {
    const auto params = graph.draw({7, 1, index}, {}, true);
    for (const int context : patch.context) {
      const std::array<double, 2> centre{417.3 + 11 * double(index), 520.9}, mpp{0.5, 0.55};
      PatchGeometry g;
      graph.locate(*params, context, centre, mpp, g);
      const auto out = gather(graph, *params, g, level);
      const auto pixel = [&](std::int64_t y, std::int64_t x, int c) {
        const bool in = y >= 0 && x >= 0 && y < level.height && x < level.width;
        return in ? double(level.rgb[static_cast<std::size_t>((y * level.width + x) * 3 + c)])
                  : 255.0;
      };
      double worst = 0;
      for (int y = 0; y < patch.height; ++y) {
        for (int x = 0; x < patch.width; ++x) {
          const auto at = fixtures::position(*params, patch, context, centre, mpp, y, x);
          for (int c = 0; c < 3; ++c) {
            const double got =
                255.0 * out[static_cast<std::size_t>((c * patch.height + y) * patch.width + x)];
            worst = std::max(worst, std::abs(got - fixtures::bilinear(pixel, at, c)));
          }
        }
      }
      EXPECT_LT(worst, 0.12) << "index " << index << " context " << context;
    }
  }
}

TEST(Geometry, WhatCanNotBeLocatedIsRefused) {
  const Graph graph = Graph::compile({}, patch_of(64, 64, {1}));
  const auto params = graph.draw({1, 0, 0}, {}, true);
  PatchGeometry g;
  EXPECT_THROW(graph.locate(*params, 0, {10, 10}, {0.5, 0.5}, g), Error);
  EXPECT_THROW(graph.locate(*params, 1, {10, 10}, {0.5, 0}, g), Error);
}

}  // namespace
}  // namespace headrace::transform
