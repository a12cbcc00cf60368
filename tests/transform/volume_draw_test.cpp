#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "volume_case.hpp"

namespace headrace::transform {
namespace {

std::vector<VolumeTransformSpec> parse(const std::string& text) {
  YamlMap file = YamlMap::parse(text, "run.yaml");
  return parse_volume_transforms(file.require("transforms"));
}
VolumeGraph graph_of(const std::vector<VolumeTransformSpec>& specs) {
  return VolumeGraph::compile(specs, {{64, 80, 96}, {1.5, 1, 1}}, fixtures::some_foreground());
}
std::vector<VolumeTransformSpec> everything() {
  return parse(R"(
transforms:
  - affine: {rotate_deg: [-20, 20], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 4, magnitude_mm: 6, probability: 0.5}
  - normalize: {method: zscore}
  - brightness: {factor: [0.75, 1.25], probability: 0.15, bg: true}
  - gamma: {gamma: [0.7, 1.5], probability: 0.3, retain_stats: true}
  - gaussian_noise: {sigma: [0, 0.1]}
  - blur: {sigma: [0.5, 1], probability: 0.25}
)");
}

TEST(VolumeDraw, IsAPureFunctionOfTheKey) {
  const VolumeGraph one = graph_of(everything()), two = graph_of(everything());
  const IntensityStats patient = fixtures::some_patient();
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::string first = describe(*one.draw({3, 1, i}, patient, true)).dump();
    EXPECT_EQ(describe(*two.draw({3, 1, i}, patient, true)).dump(), first);
    seen.insert(first);
    seen.insert(describe(*one.draw({3, 2, i}, patient, true)).dump());
    seen.insert(describe(*one.draw({4, 1, i}, patient, true)).dump());
  }
  EXPECT_EQ(seen.size(), 150u);
}

TEST(VolumeDraw, OneTransformDoesNotDisturbTheDrawsOfOthers) {
  auto specs = everything();
  const auto before = graph_of(specs).draw({1, 2, 3}, fixtures::some_patient(), true);
  specs[1] = VolumeElasticSpec{9, 30, 1};
  std::get<VolumeAffineSpec>(specs[0]).rotate_probability = 0;
  const auto after = graph_of(specs).draw({1, 2, 3}, fixtures::some_patient(), true);
  for (std::size_t i = 2; i < specs.size(); ++i) {
    EXPECT_EQ(before->drawn[i].values, after->drawn[i].values) << i;
  }
  EXPECT_EQ(before->drawn[0].values[3], after->drawn[0].values[3]);  // the scale
}

TEST(VolumeDraw, ChannelsShareGeometryAndDrawTheRestEachForItself) {
  const auto specs = everything();
  const auto of_channel = [&](const std::string& name, std::uint32_t number) {
    return VolumeGraph::compile(specs, {{64, 80, 96}, {1.5, 1, 1}}, fixtures::some_foreground(),
                                {name, number});
  };
  const VolumeGraph alone = graph_of(specs), first = of_channel("a", 0),
                    second = of_channel("b", 1);
  const IntensityStats patient = fixtures::some_patient();
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto one = alone.draw({3, 1, i}, patient, true), a = first.draw({3, 1, i}, patient, true),
               b = second.draw({3, 1, i}, patient, true);
    EXPECT_EQ(describe(*a), describe(*one));
    EXPECT_EQ(a->inverse.m, b->inverse.m);
    EXPECT_EQ(a->elastic.mm, b->elastic.mm);
    EXPECT_NE(a->drawn[5].values, b->drawn[5].values);  // the noise is always there
  }
}

TEST(VolumeDraw, EntriesForAnotherChannelDoNotApply) {
  const auto specs = parse(R"(
transforms:
  - window_hu: {low: -100, high: 250, channel: a}
  - window_hu: {low: 0, high: 80, channel: b}
  - normalize: {method: fixed, mean: 1, std: 2}
)");
  const auto stages = [&](const std::string& name) {
    const auto graph = VolumeGraph::compile(specs, {}, {}, {name, 0});
    return graph.draw({}, {}, true)->passes.front().stages;
  };
  EXPECT_EQ(stages("a").count, 2);
  EXPECT_EQ(stages("a").stage[0].a, -100.0f);
  EXPECT_EQ(stages("b").count, 2);
  EXPECT_EQ(stages("b").stage[0].a, 0.0f);
  EXPECT_EQ(stages("c").count, 1);
  EXPECT_EQ(stages("c").stage[0].b, 0.5f);
  const auto foreground = parse("transforms:\n  - normalize: {method: foreground, channel: a}\n");
  EXPECT_TRUE(VolumeGraph::needs_foreground(foreground, "a"));
  EXPECT_FALSE(VolumeGraph::needs_foreground(foreground, "b"));
  EXPECT_EQ(to_json(foreground).dump(), R"([{"normalize":{"channel":"a","method":"foreground"}}])");
}

TEST(VolumeDraw, WithoutRandomnessOnlyTheFixedOperationsStay) {
  const VolumeGraph graph = graph_of(everything());
  const auto params = graph.draw({1, 2, 3}, fixtures::some_patient(), false);
  for (const DrawnEntry& e : params->drawn) EXPECT_TRUE(e.values.empty()) << e.transform;
  EXPECT_EQ(params->elastic.grid, 0);
  ASSERT_EQ(params->passes.size(), 1u);
  EXPECT_EQ(params->passes[0].stages.count, 1);
  EXPECT_FALSE(params->passes[0].statistics);
  EXPECT_EQ(params->inverse.m, Affine3{}.m);
}

std::map<std::string, std::vector<double>> draws(const std::vector<VolumeTransformSpec>& specs,
                                                 int count) {
  const VolumeGraph graph = graph_of(specs);
  std::map<std::string, std::vector<double>> values;
  for (int i = 0; i < count; ++i) {
    const auto params = graph.draw({5, 0, std::uint64_t(i)}, fixtures::some_patient(), true);
    for (std::size_t k = 0; k < params->drawn.size(); ++k) {
      const DrawnEntry& e = params->drawn[k];
      for (const auto& [name, value] : e.values) {
        values[std::to_string(k) + "." + e.transform + "." + name].push_back(value);
      }
    }
  }
  return values;
}

/// Empirical quantiles lie within four standard errors of the probability they stand for.
void expect_quantiles(std::vector<double> values, const std::function<double(double)>& cumulative) {
  std::sort(values.begin(), values.end());
  const double n = double(values.size());
  for (double q = 0.05; q < 1; q += 0.05) {
    const double v = values[static_cast<std::size_t>(q * n)];
    EXPECT_NEAR(cumulative(v), q, 4 * std::sqrt(q * (1 - q) / n)) << v;
  }
}
std::function<double(double)> uniform(double low, double high) {
  return [=](double v) { return (v - low) / (high - low); };
}
/// Half of the draws uniform below 1, half above: not uniform, and its mean is not the middle's.
std::function<double(double)> bg(double low, double high) {
  return [=](double v) {
    return v < 1 ? 0.5 * (v - low) / (1 - low) : 0.5 + 0.5 * (v - 1) / (high - 1);
  };
}

TEST(VolumeDraw, ValuesFollowTheirDistributions) {
  VolumeAffineSpec affine;
  affine.rotate_deg = {-20, 20};
  affine.scale = {0.8, 1.25};
  affine.shear_deg = {-5, 5};
  affine.translate = 0.1;
  const auto v =
      draws({affine, VolumeNormalizeSpec{}, VolumeBrightnessSpec{{0.75, 1.25}, 1, true},
             VolumeGammaSpec{{0.7, 1.5}, 1, false, true, true},
             VolumeContrastSpec{{0.8, 1.2}, 1, true, false}, VolumeNoiseSpec{{0, 0.09}, 1, true},
             VolumeBlurSpec{{0.5, 1}, 1}, LowResolutionSpec{{0.5, 1}, 1}},
            4000);
  for (const char* angle : {"rotate_z_deg", "rotate_y_deg", "rotate_x_deg"}) {
    expect_quantiles(v.at(std::string("0.affine.") + angle), uniform(-20, 20));
  }
  expect_quantiles(v.at("0.affine.scale"), uniform(0.8, 1.25));
  expect_quantiles(v.at("0.affine.shear_xz_deg"), uniform(-5, 5));
  expect_quantiles(v.at("0.affine.translate_z_voxels"), uniform(-6.4, 6.4));
  expect_quantiles(v.at("0.affine.translate_x_voxels"), uniform(-9.6, 9.6));
  expect_quantiles(v.at("2.brightness.factor"), bg(0.75, 1.25));
  expect_quantiles(v.at("3.gamma.gamma"), bg(0.7, 1.5));
  expect_quantiles(v.at("4.contrast.factor"), uniform(0.8, 1.2));
  expect_quantiles(v.at("5.gaussian_noise.sigma"), [](double s) { return s * s / 0.09; });
  expect_quantiles(v.at("6.blur.sigma_voxels"), uniform(0.5, 1));
  expect_quantiles(v.at("7.low_resolution.scale"), uniform(0.5, 1));
}

/// nnU-Net's probabilities, as they come to an image of one channel; 10,000 draws, four standard
/// errors.
TEST(VolumeDraw, ThePresetDrawsEachOperationAsOftenAsNnunet) {
  const auto specs = parse("transforms:\n  - preset: nnunet\n");
  ASSERT_EQ(specs.size(), 9u);
  const int count = 10000;
  const auto v = draws(specs, count);
  const auto expect_rate = [&](double found, double p, const char* what) {
    EXPECT_NEAR(found / count, p, 4 * std::sqrt(p * (1 - p) / count)) << what;
  };
  const std::map<const char*, double> rates{{"2.gaussian_noise.sigma", 0.1},
                                            {"3.blur.sigma_voxels", 0.2 * 0.5},
                                            {"4.brightness.factor", 0.15},
                                            {"5.contrast.factor", 0.15},
                                            {"6.low_resolution.scale", 0.25 * 0.5},
                                            {"7.gamma.gamma", 0.1},
                                            {"8.gamma.gamma", 0.3}};
  for (const auto& [name, p] : rates) expect_rate(double(v.at(name).size()), p, name);
  for (const char* flip : {"1.affine.flip_z", "1.affine.flip_y", "1.affine.flip_x"}) {
    const auto& all = v.at(flip);
    expect_rate(std::accumulate(all.begin(), all.end(), 0.0), 0.5, flip);
  }
  const auto moved = [&](const char* name, double still) {
    const auto& all = v.at(name);
    return double(std::count_if(all.begin(), all.end(), [&](double x) { return x != still; }));
  };
  expect_rate(moved("1.affine.rotate_x_deg", 0), 0.2, "rotation");
  expect_rate(moved("1.affine.scale", 1), 0.2, "scale");
  expect_quantiles(v.at("8.gamma.gamma"), bg(0.7, 1.5));
}

TEST(VolumeDraw, DescribesWhatItDrew) {
  const auto params = graph_of(everything()).draw({1, 2, 3}, fixtures::some_patient(), true);
  const Json d = describe(*params);
  ASSERT_EQ(d.size(), 7u);
  EXPECT_TRUE(d[0]["affine"].contains("rotate_z_deg") && d[0]["affine"].contains("flip_x"));
  EXPECT_EQ(d[2], Json({{"normalize", Json::object()}}));
  EXPECT_TRUE(d[5]["gaussian_noise"].contains("sigma"));
}

TEST(VolumeDraw, SaysWhatItMisses) {
  const auto refusal = [](const auto& what) {
    try {
      what();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const VolumeGraph graph = graph_of(everything());
  EXPECT_NE(refusal([&] { graph.draw({}, {}, false); }).find("transforms[2]: normalize"),
            std::string::npos);
  const auto preset = parse("transforms:\n  - preset: nnunet\n");
  EXPECT_TRUE(VolumeGraph::needs_foreground(preset));
  EXPECT_FALSE(VolumeGraph::needs_patient(preset));
  EXPECT_TRUE(VolumeGraph::needs_patient(everything()));
  EXPECT_NE(refusal([&] { VolumeGraph::compile(preset, {}); }).find("foreground"),
            std::string::npos);
  VolumeGeometry g;
  EXPECT_NE(
      refusal([&] {
        graph.locate(*graph.draw({}, fixtures::some_patient(), false), {1, 1, 1}, {0, 1, 1}, g);
      }).find("can't be located"),
      std::string::npos);
  EXPECT_NE(
      refusal([&] {
        graph.locate(*graph.draw({}, fixtures::some_patient(), false), {1, 1, 1}, {0.001, 1, 1}, g);
      }).find("expected at most 4096"),
      std::string::npos);
}

}  // namespace
}  // namespace headrace::transform
