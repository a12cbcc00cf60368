// What locate() promises: the window and its row spans hold every pixel that the gather reads, and
// little more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "reference_model.hpp"
#include "tissue.hpp"

namespace headrace::transform {
namespace {

using fixtures::Level;

const AffineSpec kAffine{{-180, 180}, {0.8, 1.25}, {-5, 5}, 0.1, true};
const PatchSpec kPatch{80, 100, 0.5, {1, 2, 4}};

const Level& level() {
  static const Level it(1400, 1500, 21);
  return it;
}

/// HR_TEST_SEED repeats one draw of a random test.
std::vector<std::uint64_t> draws(std::uint64_t count) {
  if (const char* seed = std::getenv("HR_TEST_SEED")) return {std::strtoull(seed, nullptr, 10)};
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

std::vector<float> gather(const Graph& graph, const SampleParams& params, const PatchGeometry& g,
                          const fixtures::Window& window) {
  Scratch scratch;
  std::vector<float> out(3u * graph.patch().height * graph.patch().width);
  graph.image(params, g, window.view, window.extent, out.data(), scratch);
  return out;
}

std::vector<std::uint8_t> gather_labels(const Graph& graph, const SampleParams& params,
                                        const PatchGeometry& g, const fixtures::Window& window) {
  Scratch scratch;
  std::vector<std::uint8_t> out(std::size_t(graph.patch().height) * graph.patch().width);
  graph.labels(params, g, window.view, window.extent, 255, out.data(), scratch);
  return out;
}

/// Overwrites everything outside the spans.
void poison(fixtures::Window& window, const PatchGeometry& g, int channels, std::uint8_t value) {
  for (std::size_t r = 0; r < g.row_spans.size(); ++r) {
    std::uint8_t* row =
        window.bytes.data() + static_cast<std::int64_t>(r) * window.view.row_stride_bytes;
    std::memset(row, value, std::size_t(g.row_spans[r][0]) * channels);
    std::memset(row + g.row_spans[r][1] * channels, value,
                std::size_t(window.view.row_stride_bytes - g.row_spans[r][1] * channels));
  }
}

struct Setting {
  const char* name;
  std::vector<TransformSpec> specs;
};
std::vector<Setting> settings() {
  return {{"nothing", {}},
          {"affine", {kAffine}},
          {"elastic", {ElasticSpec{8, 10, 1}}},
          {"both", {kAffine, ElasticSpec{4, 25, 1}}},
          {"fine grid", {kAffine, ElasticSpec{30, 3, 1}}},
          {"one cell", {ElasticSpec{1, 40, 1}}}};
}

TEST(Window, PoisonOutsideTheSpansIsNeverSeen) {
  for (const Setting& s : settings()) {
    const Graph graph = Graph::compile(s.specs, kPatch);
    for (const std::uint64_t index : draws(25)) {
      const auto params = graph.draw({3, 0, index}, {}, true);
      for (const int context : kPatch.context) {
        PatchGeometry g;
        graph.locate(*params, context, {700.25 + double(index) / 7, 760.5}, {0.45, 0.52}, g);
        const std::string where = std::string(s.name) + " context " + std::to_string(context) +
                                  ", HR_TEST_SEED=" + std::to_string(index);
        auto window = fixtures::cut(level().rgb, level().height, level().width, 3, g.window, 0);
        const auto clean = gather(graph, *params, g, window);
        poison(window, g, 3, 0xFF);
        EXPECT_EQ(gather(graph, *params, g, window), clean) << where;
        auto labels = fixtures::cut(level().label, level().height, level().width, 1, g.window, 0);
        const auto clean_labels = gather_labels(graph, *params, g, labels);
        poison(labels, g, 1, 0xFF);
        EXPECT_EQ(gather_labels(graph, *params, g, labels), clean_labels) << where;
      }
    }
  }
}

/// Every position of the double model lies in the spans, taps included; and the spans are not much
/// wider than needed: over all draws at most 15 % more pixels than are read for affine maps, 60 %
/// with strong deformations of small patches.
TEST(Window, HoldsEveryTapAndLittleMore) {
  for (const Setting& s : settings()) {
    const Graph graph = Graph::compile(s.specs, kPatch);
    double spanned = 0, read = 0;
    for (const std::uint64_t index : draws(8)) {
      const auto params = graph.draw({4, 0, index}, {}, true);
      const std::array<double, 2> centre{500, 40.75 + 31 * double(index)}, mpp{0.5, 0.4};
      PatchGeometry g;
      graph.locate(*params, 1, centre, mpp, g);
      ASSERT_EQ(std::int64_t(g.row_spans.size()), g.window.height);
      std::vector<std::uint8_t> touched(std::size_t(g.window.height * g.window.width));
      for (int y = 0; y < kPatch.height; ++y) {
        for (int x = 0; x < kPatch.width; ++x) {
          const auto at = fixtures::position(*params, kPatch, 1, centre, mpp, y, x);
          const auto iy = static_cast<std::int64_t>(std::floor(at[0] - 0.5)) - g.window.y0;
          const auto ix = static_cast<std::int64_t>(std::floor(at[1] - 0.5)) - g.window.x0;
          for (const auto& [r, c] :
               {std::pair{iy, ix}, {iy, ix + 1}, {iy + 1, ix}, {iy + 1, ix + 1}}) {
            ASSERT_TRUE(r >= 0 && c >= 0 && r < g.window.height && c < g.window.width) << s.name;
            const auto& span = g.row_spans[std::size_t(r)];
            ASSERT_TRUE(c >= span[0] && c < span[1])
                << s.name << " row " << r << " column " << c << " HR_TEST_SEED=" << index;
            touched[std::size_t(r * g.window.width + c)] = 1;
          }
        }
      }
      for (std::size_t r = 0; r < g.row_spans.size(); ++r) {
        spanned += g.row_spans[r][1] - g.row_spans[r][0];
        const auto row = touched.begin() + std::int64_t(r) * g.window.width;
        const auto first = std::find(row, row + g.window.width, 1);
        const auto last = std::find(std::make_reverse_iterator(row + g.window.width),
                                    std::make_reverse_iterator(row), 1);
        if (first != row + g.window.width) read += double(last.base() - first);
      }
    }
    const bool elastic = std::any_of(s.specs.begin(), s.specs.end(), [](const TransformSpec& t) {
      return std::holds_alternative<ElasticSpec>(t);
    });
    EXPECT_LT(spanned / read, elastic ? 1.6 : 1.15) << s.name;
    RecordProperty(s.name, std::to_string(spanned / read));
  }
}

TEST(Window, ARotatedPatchNearNoSlideEdgeHasNoPaddedPixel) {
  const Graph graph = Graph::compile({kAffine, ElasticSpec{8, 15, 1}}, {80, 100, 0.5, {1, 2}});
  // A level of darkness: any white pixel in the output would be padding.
  const std::vector<std::uint8_t> dark(1200 * 1200 * 3, 40), inside(1200 * 1200, 3);
  for (const std::uint64_t index : draws(60)) {
    const auto params = graph.draw({5, 1, index}, {}, true);
    for (const int context : {1, 2}) {
      PatchGeometry g;
      graph.locate(*params, context, {600, 600}, {0.5, 0.5}, g);
      const auto window = fixtures::cut(dark, 1200, 1200, 3, g.window, 255);
      for (const float v : gather(graph, *params, g, window))
        ASSERT_FLOAT_EQ(v, 40.0f / 255) << index;
      const auto labels = fixtures::cut(inside, 1200, 1200, 1, g.window, 255);
      for (const int v : gather_labels(graph, *params, g, labels)) ASSERT_EQ(v, 3) << index;
    }
  }
}

TEST(Window, OutsideTheLevelIsWhiteAndLabelledOutside) {
  const Graph graph = Graph::compile({}, {40, 40, 0.5, {1}});
  const auto params = graph.draw({1, 1, 1}, {}, true);
  PatchGeometry g;
  graph.locate(*params, 1, {10, 20}, {0.5, 0.5}, g);  // rows -10 … 29
  const std::vector<std::uint8_t> dark(100 * 100 * 3, 40), inside(100 * 100, 3);
  const auto image = gather(graph, *params, g, fixtures::cut(dark, 100, 100, 3, g.window, 7));
  const auto labels =
      gather_labels(graph, *params, g, fixtures::cut(inside, 100, 100, 1, g.window, 7));
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 40; ++x) {
      EXPECT_FLOAT_EQ(image[std::size_t(y * 40 + x)], y < 10 ? 1.0f : 40.0f / 255) << y;
      EXPECT_EQ(labels[std::size_t(y * 40 + x)], y < 10 ? 255 : 3) << y;
    }
  }
}

TEST(Window, ContextsAreConcentricAndDeformedAsOne) {
  const PatchSpec patch{96, 96, 0.5, {1, 2, 4}};
  const Graph graph = Graph::compile({kAffine, ElasticSpec{6, 12, 1}}, patch);
  for (const std::uint64_t index : draws(6)) {
    const auto params = graph.draw({6, 0, index}, {}, true);
    for (int y = 0; y < 48; ++y) {
      for (int x = 0; x < 48; ++x) {
        // Pixel (24 + y, 24 + x) of context 2 lies amid the four pixels (2y, 2x) … of context 1.
        const auto far = fixtures::position(*params, patch, 2, {0, 0}, {0.5, 0.5}, 24 + y, 24 + x);
        const auto near =
            fixtures::position(*params, patch, 1, {0, 0}, {0.5, 0.5}, 2 * y + 0.5, 2 * x + 0.5);
        ASSERT_NEAR(far[0], near[0], 1e-9);
        ASSERT_NEAR(far[1], near[1], 1e-9);
      }
    }
  }
}

/// The same of pixels: on a level that is a ramp, value tells position. Half a level of rounding of
/// the ramp, and float32.
TEST(Window, PixelsOfContextTwoAreThoseOfContextOneSeenFromTwiceAsFar) {
  const PatchSpec patch{96, 96, 0.5, {1, 2}};
  const Graph graph = Graph::compile({kAffine, ElasticSpec{6, 12, 1}}, patch);
  std::vector<std::uint8_t> ramp(500 * 500 * 3);
  for (int y = 0; y < 500; ++y) {
    for (int x = 0; x < 500; ++x) {
      std::uint8_t* p = ramp.data() + (y * 500 + x) * 3;
      p[0] = static_cast<std::uint8_t>(y / 2);
      p[1] = static_cast<std::uint8_t>(x / 2);
      p[2] = 0;
    }
  }
  for (const std::uint64_t index : draws(6)) {
    const auto params = graph.draw({6, 0, index}, {}, true);
    std::vector<float> out[2];
    for (int i = 0; i < 2; ++i) {
      PatchGeometry g;
      graph.locate(*params, patch.context[std::size_t(i)], {250, 250}, {0.5, 0.5}, g);
      out[i] = gather(graph, *params, g, fixtures::cut(ramp, 500, 500, 3, g.window, 255));
    }
    for (int channel = 0; channel < 2; ++channel) {
      for (int y = 1; y < 47; ++y) {
        for (int x = 1; x < 47; ++x) {
          const auto at = [&](int i, int r, int c) {
            return 255 * out[i][std::size_t((channel * 96 + r) * 96 + c)];
          };
          const float near = (at(0, 2 * y, 2 * x) + at(0, 2 * y + 1, 2 * x) +
                              at(0, 2 * y, 2 * x + 1) + at(0, 2 * y + 1, 2 * x + 1)) /
                             4;
          ASSERT_NEAR(at(1, 24 + y, 24 + x), near, 1.0f) << index;
        }
      }
    }
  }
}

TEST(Window, ImpossiblePlacesAreRefused) {
  const Graph graph = Graph::compile({}, {64, 64, 0.5, {1}});
  const auto params = graph.draw({1, 1, 1}, {}, true);
  PatchGeometry g;
  EXPECT_THROW(graph.locate(*params, 1, {0, std::nan("")}, {0.5, 0.5}, g), Error);
  EXPECT_THROW(graph.locate(*params, 1, {0, 0}, {0, 0.5}, g), Error);
  EXPECT_THROW(graph.locate(*params, 1, {0, 0}, {1e-5, 0.5}, g), Error);
}

}  // namespace
}  // namespace headrace::transform
