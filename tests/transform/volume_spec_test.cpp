#include "headrace/transform/volume/volume_spec.hpp"

#include <gtest/gtest.h>

#include "headrace/transform/volume/volume_graph.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::transform {
namespace {

std::vector<VolumeTransformSpec> parse(const std::string& text) {
  YamlMap file = YamlMap::parse(text, "run.yaml");
  return parse_volume_transforms(file.require("transforms"));
}
std::string refusal(const std::string& entries) {
  try {
    VolumeGraph::compile(parse("transforms:\n" + entries), {}, {10, 0, 1, -1, 1});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "accepted";
}
void expect_refusal(const std::string& entries, const std::string& part) {
  EXPECT_NE(refusal(entries).find(part), std::string::npos)
      << entries << " gave: " << refusal(entries);
}

const char* const kFull = R"(
transforms:
  - affine: {rotate_deg: [-15, 15], in_plane: true, scale: [0.9, 1.1], shear_deg: 2, translate: 0.05, flip: true, rotate_probability: 0.5, scale_probability: 0.25}
  - elastic: {grid: 7, magnitude_mm: 8, probability: 0.5}
  - clip_percentiles: {of: foreground}
  - window_hu: {low: -200, high: 300}
  - normalize: {method: fixed, mean: 0.4, std: 0.3}
  - brightness: {factor: [0.75, 1.25], probability: 0.15, bg: true}
  - contrast: {factor: [0.75, 1.25], preserve_range: false}
  - gamma: {gamma: [0.7, 1.5], probability: 0.3, invert: true, retain_stats: true}
  - gaussian_noise: {variance: [0, 0.1], probability: 0.1}
  - blur: {sigma: [0.5, 1]}
  - low_resolution: {scale: [0.5, 1], probability: 0.25}
)";

TEST(VolumeSpec, ReadsEveryEntry) {
  const auto specs = parse(kFull);
  ASSERT_EQ(specs.size(), 11u);
  const auto& affine = std::get<VolumeAffineSpec>(specs[0]);
  EXPECT_EQ(affine.rotate_deg, (std::array<double, 2>{-15, 15}));
  EXPECT_EQ(affine.shear_deg, (std::array<double, 2>{2, 2}));
  EXPECT_TRUE(affine.in_plane && affine.flip);
  EXPECT_EQ(affine.rotate_probability, 0.5);
  EXPECT_EQ(std::get<VolumeElasticSpec>(specs[1]).magnitude_mm, 8);
  EXPECT_EQ(std::get<WindowHuSpec>(specs[3]).high, 300);
  EXPECT_FALSE(std::get<VolumeContrastSpec>(specs[6]).preserve_range);
  EXPECT_TRUE(std::get<VolumeNoiseSpec>(specs[8]).variance);
  EXPECT_NO_THROW(VolumeGraph::compile(specs, {}, {10, 0, 1, -1, 1}));
}

TEST(VolumeSpec, ItsJsonReadsBackAsTheSame) {
  for (const std::string& text :
       {std::string(kFull), std::string("transforms:\n  - preset: nnunet\n")}) {
    const Json json = to_json(parse(text));
    Json file = Json::object();
    file["transforms"] = json;
    EXPECT_EQ(to_json(parse(file.dump())), json);
  }
  EXPECT_TRUE(parse("transforms: []\n").empty());
}

TEST(VolumeSpec, ThePresetIsPrintedInFull) {
  const Json json = to_json(parse("transforms:\n  - preset: nnunet\n"));
  std::vector<std::string> names;
  for (const Json& entry : json) names.push_back(entry.begin().key());
  EXPECT_EQ(names,
            (std::vector<std::string>{"normalize", "affine", "gaussian_noise", "blur", "brightness",
                                      "contrast", "low_resolution", "gamma", "gamma"}));
  EXPECT_EQ(json[0]["normalize"]["method"], "foreground");
  EXPECT_EQ(json[1]["affine"]["scale"], Json({0.7, 1.4}));
  EXPECT_EQ(json[7]["gamma"]["invert"], true);
  // A list that states how values are scaled keeps it.
  const auto own = parse("transforms:\n  - window_hu\n  - preset: nnunet\n");
  EXPECT_EQ(own.size(), 9u);
  EXPECT_EQ(name_of(own[0]), "window_hu");
}

TEST(VolumeSpec, RefusesInOneSentenceWithLineAndNearestName) {
  expect_refusal("  - affin: {}\n", "run.yaml:2");
  expect_refusal("  - affin: {}\n", "Did you mean 'affine'?");
  expect_refusal("  - presett: nnunet\n", "Did you mean 'preset'?");
  expect_refusal("  - preset: nnunett\n", "nnunet");
  expect_refusal("  - affine: {rotate: 5}\n", "rotate");
  expect_refusal("  - affine: {scale: [1.2, 0.8]}\n", "upside down");
  expect_refusal("  - affine: {scale: [0, 1]}\n", "0.05");
  expect_refusal("  - elastic: {grid: 99}\n", "32");
  expect_refusal("  - window_hu: {low: 100, high: 50}\n", "is empty");
  expect_refusal("  - normalize: {method: zscore, mean: 3}\n", "only method fixed takes a mean");
  expect_refusal("  - normalize: {method: zscor}\n", "zscore");
  expect_refusal("  - gaussian_noise: {sigma: 1, variance: 1}\n", "keep one of them");
  expect_refusal("  - gamma: {probability: 1.5}\n", "1.5");
  expect_refusal("  - blur: {sigma: 9}\n", "8");
}

TEST(VolumeSpec, RefusesListsThatCannotBeMeant) {
  expect_refusal("  - affine\n  - blur\n  - affine\n",
                 "transforms[2]: a second affine, the first is transforms[0]; keep one");
  expect_refusal("  - elastic\n  - elastic\n", "a second elastic");
  expect_refusal("  - window_hu\n  - normalize: {method: foreground}\n",
                 "transforms[1]: normalize works on Hounsfield units, but window_hu "
                 "(transforms[0]) stands in front of it");
  expect_refusal("  - gaussian_noise: {sigma: 1}\n  - window_hu\n", "move window_hu up");
  expect_refusal("  - preset: nnunet\n  - window_hu\n", "Hounsfield");
  EXPECT_EQ(refusal("  - window_hu\n  - normalize: {method: fixed}\n"), "accepted");
  EXPECT_EQ(refusal("  - gamma\n  - gamma\n  - blur\n  - blur\n"), "accepted");
}

TEST(VolumeSpec, RefusesPatchesThatCannotBeMade) {
  const auto compile = [](std::int32_t depth, std::int32_t height, std::int32_t width) {
    VolumeGraph::compile({}, {{depth, height, width}, {1, 1, 1}});
  };
  EXPECT_NE(error_of(ErrorCode::usage, [&] { compile(96, 0, 96); })
                .find("patch.size: expected 1 to 2048 voxels a side, found 0"),
            std::string::npos);
  EXPECT_EQ(error_of(ErrorCode::usage, [&] { compile(2048, 2048, 512); }),
            "patch.size: 2048 x 2048 x 512 are 2^31 voxels or more; take a smaller patch");
  EXPECT_NO_THROW(compile(2048, 2048, 511));
}

}  // namespace
}  // namespace headrace::transform
