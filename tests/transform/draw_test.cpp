#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/transform/noise_kernel.hpp"
#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "kernel_cases.hpp"

namespace headrace::transform {
namespace {

const PatchSpec kPatch{64, 64, 0.5, {1, 2}};
const AffineSpec kAffine{{-180, 180}, {0.8, 1.25}, {-5, 5}, 0.1, true};

std::vector<TransformSpec> everything() {
  return {kAffine,
          ElasticSpec{4, 10, 0.5},
          StainNormalizeSpec{},
          ScannerColorSpec{},
          HedJitterSpec{0.05},
          ColorJitterSpec{0.25, 0.25, 0.25, 0.04},
          GaussianNoiseSpec{{0, 0.02}, 0.5},
          BlurSpec{{0.5, 1.5}, 0.25},
          NormalizeSpec{}};
}

TEST(Draw, IsAPureFunctionOfTheKey) {
  const Graph one = Graph::compile(everything(), kPatch),
              two = Graph::compile(everything(), kPatch);
  const ImageColour colour = fixtures::some_colour();
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::string first = describe(*one.draw({3, 1, i}, colour, true)).dump();
    EXPECT_EQ(describe(*two.draw({3, 1, i}, colour, true)).dump(), first);
    seen.insert(first);
    seen.insert(describe(*one.draw({3, 2, i}, colour, true)).dump());
    seen.insert(describe(*one.draw({4, 1, i}, colour, true)).dump());
    seen.insert(describe(*one.draw({3, 1, i + (1ull << 32)}, colour, true)).dump());
  }
  EXPECT_EQ(seen.size(), 200u);
}

TEST(Draw, OneTransformDoesNotDisturbTheDrawsOfOthers) {
  auto specs = everything();
  const auto before = Graph::compile(specs, kPatch).draw({1, 2, 3}, fixtures::some_colour(), true);
  specs[1] = ElasticSpec{9, 30, 1};
  const auto after = Graph::compile(specs, kPatch).draw({1, 2, 3}, fixtures::some_colour(), true);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (i == 1) continue;
    EXPECT_EQ(before->drawn[i].values, after->drawn[i].values) << i;
  }
}

TEST(Draw, WithoutRandomnessOnlyTheFixedOperationsStay) {
  const Graph graph = Graph::compile(everything(), kPatch);
  const auto params = graph.draw({1, 2, 3}, fixtures::some_colour(), false);
  const auto other = graph.draw({9, 9, 9}, fixtures::some_colour(), false);
  EXPECT_EQ(describe(*params), describe(*other));
  for (const DrawnEntry& entry : params->drawn)
    EXPECT_TRUE(entry.values.empty()) << entry.transform;
  EXPECT_EQ(params->elastic.grid, 0);
  EXPECT_EQ(params->blur_sigma, 0);
  EXPECT_FALSE(params->noise_before_blur || params->noise_after_blur);
  ASSERT_EQ(params->before_blur.count, 3);
  EXPECT_EQ(params->before_blur.stages[0].kind, StageKind::density);
}

/// 4,000 draws: means within four standard errors of the uniform's, ends within 1 % of the range,
/// rates of chance likewise.
TEST(Draw, ValuesFillTheirRanges) {
  const Graph graph = Graph::compile(everything(), kPatch);
  std::map<std::string, std::vector<double>> values;
  const int count = 4000;
  for (int i = 0; i < count; ++i) {
    const auto params = graph.draw({5, 0, std::uint64_t(i)}, fixtures::some_colour(), true);
    for (const DrawnEntry& entry : params->drawn) {
      for (const auto& [name, value] : entry.values)
        values[entry.transform + "." + name].push_back(value);
    }
  }
  const std::map<std::string, std::array<double, 2>> ranges{
      {"affine.rotate_deg", {-180, 180}},
      {"affine.scale", {0.8, 1.25}},
      {"affine.shear_deg", {-5, 5}},
      {"affine.translate_y_px", {-6.4, 6.4}},
      {"affine.translate_x_px", {-6.4, 6.4}},
      {"hed_jitter.h_factor", {0.95, 1.05}},
      {"hed_jitter.d_shift", {-0.05, 0.05}},
      {"color_jitter.brightness", {0.75, 1.25}},
      {"color_jitter.saturation", {0.75, 1.25}},
      {"color_jitter.hue", {-0.04, 0.04}},
      {"gaussian_noise.sigma", {0, 0.02}},
      {"blur.sigma_px", {0.5, 1.5}}};
  for (const auto& [name, range] : ranges) {
    const auto& all = values[name];
    const double width = range[1] - range[0], n = double(all.size());
    ASSERT_GT(n, 500) << name;
    double mean = 0, low = 1e9, high = -1e9;
    for (const double v : all) {
      mean += v / n;
      low = std::min(low, v);
      high = std::max(high, v);
    }
    EXPECT_NEAR(mean, (range[0] + range[1]) / 2, 4 * width / std::sqrt(12 * n)) << name;
    EXPECT_TRUE(low >= range[0] && low < range[0] + 0.01 * width) << name << " " << low;
    EXPECT_TRUE(high <= range[1] && high > range[1] - 0.01 * width) << name << " " << high;
  }
  const auto rate = [&](const char* name) { return double(values[name].size()) / count; };
  EXPECT_NEAR(rate("elastic.grid"), 0.5, 4 * std::sqrt(0.25 / count));
  EXPECT_NEAR(rate("blur.sigma_px"), 0.25, 4 * std::sqrt(0.1875 / count));
  double flips = 0;
  for (const double v : values["affine.flip_y"]) flips += v / count;
  EXPECT_NEAR(flips, 0.5, 4 * std::sqrt(0.25 / count));
}

// ---- noise -----------------------------------------------------------------------------------

struct Planes {
  std::vector<double> v[3];
  double mean(int c) const {
    double sum = 0;
    for (const double x : v[c]) sum += x;
    return sum / double(v[c].size());
  }
  double product(int a, const Planes& other, int b, std::size_t lag = 0) const {
    double sum = 0;
    for (std::size_t i = lag; i < v[a].size(); ++i) sum += v[a][i] * other.v[b][i - lag];
    return sum / double(v[a].size() - lag);
  }
};

/// What the noise adds to a grey patch, in units of its sigma.
Planes noise_of(std::uint64_t index, int context) {
  const PatchSpec patch{200, 300, 0.5, {1, 2}};
  const Graph graph = Graph::compile({GaussianNoiseSpec{{0.02, 0.02}, 1}}, patch);
  const auto params = graph.draw({8, 0, index}, {}, true);
  PatchGeometry g;
  graph.locate(*params, context, {400, 400}, {0.5, 0.5}, g);
  const std::vector<std::uint8_t> grey(800 * 800 * 3, 128);
  const auto window = fixtures::cut(grey, 800, 800, 3, g.window, 0);
  std::vector<float> out(3u * 200 * 300);
  Scratch scratch;
  graph.image(*params, g, window.view, window.extent, out.data(), scratch);
  Planes planes;
  for (std::size_t i = 0; i < out.size(); ++i) {
    planes.v[i / (200 * 300)].push_back((out[i] - 128.0 / 255) / 0.02);
  }
  return planes;
}

/// 60,000 pixels a plane: four standard errors, 4 / sqrt(60,000) = 0.0163, for means and
/// correlations.
TEST(Noise, IsWhiteUnitNormalInEveryChannel) {
  const Planes noise = noise_of(1, 1);
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(noise.mean(c), 0, 0.0163);
    EXPECT_NEAR(noise.product(c, noise, c), 1, 4 * std::sqrt(2 / 60000.0));
    for (const std::size_t lag : {1u, 8u, 32u, 300u})
      EXPECT_NEAR(noise.product(c, noise, c, lag), 0, 0.0164) << lag;
    EXPECT_NEAR(noise.product(c, noise, (c + 1) % 3), 0, 0.0163);
  }
}

TEST(Noise, ContextsAndSamplesHaveTheirOwn) {
  const Planes noise = noise_of(1, 1), context = noise_of(1, 2), sample = noise_of(2, 1);
  EXPECT_NEAR(noise.product(0, context, 0), 0, 0.0163);
  EXPECT_NEAR(noise.product(0, sample, 0), 0, 0.0163);
}

// ---- what can't be compiled or drawn ---------------------------------------------------------

std::string refusal(const std::vector<TransformSpec>& specs, const PatchSpec& patch = kPatch) {
  try {
    Graph::compile(specs, patch);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Compile, SecondsAndMisplacedEntriesAreNamed) {
  EXPECT_EQ(refusal({kAffine, HedJitterSpec{}, kAffine}),
            "transforms[2]: a second affine, the first is transforms[0]; keep one");
  EXPECT_EQ(refusal({NormalizeSpec{}, kAffine, HedJitterSpec{}}),
            "transforms[2]: hed_jitter stands behind normalize (transforms[0]), which must be the "
            "last operation on "
            "colours; move normalize down");
  EXPECT_EQ(refusal({HedJitterSpec{}, HedJitterSpec{}, NormalizeSpec{}, kAffine}), "accepted");
  EXPECT_EQ(refusal({StainNormalizeSpec{StainMethod::macenko, "case-7"}}),
            "transforms[0].stain_normalize.reference: there is no stain estimate of 'case-7'; name "
            "an image of the store "
            "that has one, or 'builtin'");
}

TEST(Compile, ImpossiblePatchesAreNamed) {
  EXPECT_NE(refusal({}, {0, 64, 0.5, {1}}).find("patch.size"), std::string::npos);
  EXPECT_NE(refusal({}, {64, 64, 0, {1}}).find("patch.mpp"), std::string::npos);
  EXPECT_NE(refusal({}, {64, 64, 0.5, {2}}).find("patch.context"), std::string::npos);
  EXPECT_NE(refusal({}, {64, 64, 0.5, {1, 2, 2}}).find("found 2"), std::string::npos);
}

TEST(Compile, TheReferenceMayBeAnImageOfTheStore) {
  std::string asked;
  const auto colour_of = [&](const std::string& id) {
    asked = id;
    return fixtures::some_colour();
  };
  const Graph graph =
      Graph::compile({StainNormalizeSpec{StainMethod::macenko, "case-7"}}, kPatch, colour_of);
  EXPECT_EQ(asked, "case-7");
  EXPECT_TRUE(graph.needs_stain());
  EXPECT_FALSE(graph.needs_scanner());
}

TEST(Compile, MissingSlideFactsAreNamedAtTheDraw) {
  const auto refused = [](const TransformSpec& spec, const ImageColour& colour) -> std::string {
    try {
      Graph::compile({spec}, kPatch).draw({}, colour, false);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused(StainNormalizeSpec{}, {}).find("stain estimate"), std::string::npos);
  EXPECT_NE(refused(ScannerColorSpec{}, {}).find("scanner"), std::string::npos);
  ImageColour same = fixtures::some_colour();
  same.stain_od_rgb_he = {0.6, 0.6, 0.7, 0.7, 0.4, 0.4};
  EXPECT_NE(refused(StainNormalizeSpec{}, same).find("point the same way"), std::string::npos);
  ImageColour flat = fixtures::some_colour();
  flat.scanner_od_std[1] = 0;
  EXPECT_NE(refused(ScannerColorSpec{}, flat).find("channel 1"), std::string::npos);
}

TEST(Compile, AWindowOfAnotherSizeIsABug) {
  const Graph graph = Graph::compile({}, kPatch);
  const auto params = graph.draw({}, {}, false);
  PatchGeometry g;
  graph.locate(*params, 1, {100, 100}, {0.5, 0.5}, g);
  std::vector<std::uint8_t> pixels(100 * 100 * 3 + 4);
  std::vector<float> out(3 * 64 * 64);
  Scratch scratch;
  EXPECT_THROW(
      graph.image(*params, g, {pixels.data(), 10, 10, 300}, {0, 0, 10, 10}, out.data(), scratch),
      Error);
}

}  // namespace
}  // namespace headrace::transform
