#include "headrace/transform/slide/slide_spec.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::transform {
namespace {

std::vector<TransformSpec> parse(const std::string& text) {
  YamlMap file = YamlMap::parse(text, "run.yaml");
  return parse_transforms(file.require("transforms"));
}

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Spec, ReadsEveryEntryOfTheDocumentedExample) {
  const auto specs = parse(R"(
transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 8, magnitude_um: 15, probability: 0.5}
  - stain_normalize: {method: macenko, reference: builtin}
  - scanner_color:
  - hed_jitter: {sigma: 0.05}
  - color_jitter: {brightness: 0.25, contrast: 0.25, saturation: 0.25, hue: 0.04}
  - gaussian_noise: {sigma: [0, 0.02], probability: 0.5}
  - blur: {sigma: 1.5}
  - normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}
)");
  ASSERT_EQ(specs.size(), 9u);
  const auto& affine = std::get<AffineSpec>(specs[0]);
  EXPECT_EQ(affine.rotate_deg, (std::array<double, 2>{-180, 180}));
  EXPECT_EQ(affine.translate, 0.1);
  EXPECT_TRUE(affine.flip);
  EXPECT_EQ(std::get<ElasticSpec>(specs[1]).magnitude_um, 15);
  EXPECT_EQ(std::get<BlurSpec>(specs[7]).sigma, (std::array<double, 2>{1.5, 1.5}));
  EXPECT_EQ(std::get<NormalizeSpec>(specs[8]).std[1], 0.22);
  const char* names[] = {"affine",         "elastic",    "stain_normalize",
                         "scanner_color",  "hed_jitter", "color_jitter",
                         "gaussian_noise", "blur",       "normalize"};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(name_of(specs[i]), names[i]);
}

TEST(Spec, AWordAloneTakesTheDefaults) {
  const auto specs = parse("transforms:\n  - scanner_color\n  - hed_jitter\n");
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(std::get<HedJitterSpec>(specs[1]).sigma, HedJitterSpec{}.sigma);
}

TEST(Spec, JsonHoldsEveryDefault) {
  EXPECT_EQ(to_json({ElasticSpec{}}).dump(),
            R"([{"elastic":{"grid":8,"magnitude_um":10.0,"probability":1.0}}])");
  EXPECT_EQ(to_json({ScannerColorSpec{}}).dump(), R"([{"scanner_color":{}}])");
}

TEST(Spec, MistakesAreNamedWithLineAndNearestName) {
  EXPECT_EQ(
      refusal("transforms:\n  - affine: {}\n  - hed_jiter: {sigma: 0.1}\n"),
      "run.yaml:3: transforms[1]: 'hed_jiter' is not a transform. Did you mean 'hed_jitter'?");
  EXPECT_NE(
      refusal("transforms:\n  - affine: {rotate: 5}\n").find("run.yaml:2: unknown key 'rotate'"),
      std::string::npos);
  EXPECT_NE(refusal("transforms:\n  - affine: {rotate_dg: 5}\n").find("Did you mean 'rotate_deg'?"),
            std::string::npos);
  EXPECT_NE(refusal("transforms:\n  - affine: {scale: [2, 1]}\n").find("upside down"),
            std::string::npos);
  EXPECT_NE(refusal("transforms:\n  - affine: {scale: [0, 1]}\n").find("found 0"),
            std::string::npos);
  EXPECT_NE(refusal("transforms:\n  - elastic: {grid: 2.5}\n").find("whole number"),
            std::string::npos);
  EXPECT_NE(refusal("transforms:\n  - elastic: {probability: 1.5}\n").find("found 1.5"),
            std::string::npos);
  EXPECT_NE(refusal("transforms:\n  - {affine: {}, elastic: {}}\n").find("one transform an entry"),
            std::string::npos);
  EXPECT_NE(refusal("transforms:\n  - normalize: {std: [1, 0, 1]}\n").find("normalize.std"),
            std::string::npos);
  EXPECT_NE(
      refusal("transforms:\n  - stain_normalize: {method: reinhard}\n").find("is none of: macenko"),
      std::string::npos);
  EXPECT_NE(refusal("transforms: {affine: {}}\n").find("expected a list"), std::string::npos);
}

}  // namespace
}  // namespace headrace::transform
