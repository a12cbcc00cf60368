#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "golden.hpp"
#include "headrace/transform/slide/colour_affine.hpp"
#include "headrace/transform/slide/colour_program.hpp"
#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "kernel_cases.hpp"

namespace headrace::transform {
namespace {

using fixtures::golden;
using Colour = std::array<double, 3>;

Colour od_of(const Colour& v) {
  return {-std::log10((v[0] + 1) / 256), -std::log10((v[1] + 1) / 256),
          -std::log10((v[2] + 1) / 256)};
}
Colour from_od(const Colour& od) {
  return {256 * std::pow(10, -od[0]) - 1, 256 * std::pow(10, -od[1]) - 1,
          256 * std::pow(10, -od[2]) - 1};
}

Colour through_density(const ColourAffine& od, const Colour& v) {
  const auto out = math::affine_density(density_to_log2(od).rounded(),
                                        math::Rgb<float>{float(v[0]), float(v[1]), float(v[2])});
  return {out.r, out.g, out.b};
}

/// 0.01 of 255: float32 polynomials of 3e-6 on log2 8 and on 2^x, amplified by matrices of norm
/// about 2.
TEST(ColourGolden, HedJitterIsThatOfScikitImage) {
  const Json& g = golden()["hed"];
  const ColourAffine jitter = hed_jitter(g["factor"], g["shift"]);
  for (std::size_t i = 0; i < g["in"].size(); ++i) {
    const Colour got = through_density(jitter, g["in"][i].get<Colour>());
    const Colour expected = g["out"][i].get<Colour>();
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(got[c], expected[c], 0.01) << i;
  }
}

TEST(ColourGolden, JitterIsThatOfTorchvisionAndYiq) {
  const Json& g = golden()["jitter"];
  const ColourAffine jitter =
      color_jitter(g["brightness"], g["contrast"], g["saturation"], g["hue"]);
  for (std::size_t i = 0; i < g["in"].size(); ++i) {
    const Colour in = g["in"][i].get<Colour>(), expected = g["out"][i].get<Colour>();
    const Colour got = within_255(jitter)(in);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(got[c], expected[c], 2e-4) << i;
  }
}

/// torchstain gives whole numbers (cut off) of 256·exp(-OD), limited to 255: ours is one less, so
/// within 1 and rounding.
TEST(ColourGolden, MacenkoIsThatOfTorchstain) {
  const Json& g = golden()["macenko"];
  ImageColour slide, reference;
  slide.stain_od_rgb_he = g["he"];
  slide.max_concentration = g["max"];
  reference.stain_od_rgb_he = g["reference_he"];
  reference.max_concentration = g["reference_max"];
  const ColourAffine map = stain_normalization(slide, reference);
  const auto in = fixtures::tissue_picture("stain_target.png").crop(g["crop_yxhw"]);
  const auto expected = g["out"].get<std::vector<double>>();
  ASSERT_EQ(in.size(), expected.size());
  for (std::size_t i = 0; i < in.size(); i += 3) {
    const Colour got = through_density(map, {double(in[i]), double(in[i + 1]), double(in[i + 2])});
    for (std::size_t c = 0; c < 3; ++c) {
      if (expected[i + c] >= 255) {
        EXPECT_GT(got[c], 253.9) << i;
      } else {
        EXPECT_NEAR(got[c] + 1, expected[i + c] + 0.5, 0.52) << i;
      }
    }
  }
}

TEST(ColourGolden, ASlideThatIsTheReferenceComesBackOnItsStainPlane) {
  const ImageColour reference = builtin_reference();
  const ColourAffine map = stain_normalization(reference, reference);
  for (const double h : {0.0, 0.3, 1.0}) {
    for (const double e : {0.0, 0.2, 0.6}) {
      Colour od;
      for (int c = 0; c < 3; ++c) {
        od[c] = reference.stain_od_rgb_he[c * 2] * h + reference.stain_od_rgb_he[c * 2 + 1] * e;
      }
      const Colour out = map(od);
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(out[c], od[c], 1e-12);
    }
  }
}

/// One operation after the other in double, each through its own OD, with the limits where a run of
/// colours ends.
struct PlainModel {
  ImageColour colour = fixtures::some_colour();
  const SampleParams& params;
  std::size_t entry = 0;

  double drawn(const char* name) const {
    for (const auto& [key, value] : params.drawn[entry].values) {
      if (std::string(key) == name) return value;
    }
    ADD_FAILURE() << "nothing drawn by the name " << name;
    return 0;
  }

  Colour density(const Colour& limited, const std::function<Colour(Colour)>& f) const {
    Colour v;
    for (int c = 0; c < 3; ++c) v[c] = std::clamp(limited[c], 0.0, 255.0);
    return from_od(f(od_of(v)));
  }

  Colour apply(const TransformSpec& spec, Colour v) const {
    if (std::holds_alternative<ScannerColorSpec>(spec)) {
      return density(v, [&](Colour od) {
        for (int c = 0; c < 3; ++c) {
          od[c] = (od[c] - colour.scanner_od_mean[c]) / colour.scanner_od_std[c] *
                      colour.cohort_od_std[c] +
                  colour.cohort_od_mean[c];
        }
        return od;
      });
    }
    if (std::holds_alternative<HedJitterSpec>(spec)) {
      return density(v, [&](const Colour& od) {
        return hed_jitter({drawn("h_factor") - 1, drawn("e_factor") - 1, drawn("d_factor") - 1},
                          {drawn("h_shift"), drawn("e_shift"), drawn("d_shift")})(od);
      });
    }
    if (std::holds_alternative<StainNormalizeSpec>(spec)) {
      return density(v, [&](const Colour& od) {
        return stain_normalization(colour, builtin_reference())(od);
      });
    }
    if (std::holds_alternative<ColorJitterSpec>(spec)) {
      for (double& c : v) c /= 255;
      v = color_jitter(drawn("brightness"), drawn("contrast"), drawn("saturation"),
                       drawn("hue"))(v);
      for (double& c : v) c *= 255;
    }
    return v;
  }
};

/// All orders of two density and two RGB operations: composed in float32 against applied singly in
/// double. Within a run of density operations the double model's 8-bit limits are left out (the run
/// is one affine map), so colours are mid-tones.
TEST(ColourProgram, ComposedMatricesMatchOperationsAppliedOneByOne) {
  std::vector<TransformSpec> ops{ScannerColorSpec{}, HedJitterSpec{0.05},
                                 ColorJitterSpec{0.1, 0.1, 0.1, 0.02},
                                 ColorJitterSpec{0.05, 0.1, 0, 0.04}};
  std::vector<int> order{0, 1, 2, 3};
  double worst = 0;
  do {
    std::vector<TransformSpec> specs;
    for (const int i : order) specs.push_back(ops[std::size_t(i)]);
    const Graph graph = Graph::compile(specs, {8, 8, 0.5, {1}});
    const auto params = graph.draw({1, 0, 3}, fixtures::some_colour(), true);
    for (const Colour in : {Colour{120, 100, 130}, {90, 110, 150}, {180, 140, 170}, {60, 70, 80}}) {
      PlainModel model{fixtures::some_colour(), *params};
      Colour expected = in;
      for (const TransformSpec& spec : specs) {
        expected = model.apply(spec, expected);
        ++model.entry;
      }
      const auto out =
          run(params->before_blur, math::Rgb<float>{float(in[0]), float(in[1]), float(in[2])},
              math::Rgb<float>{0, 0, 0});
      const float got[3] = {out.r, out.g, out.b};
      for (int c = 0; c < 3; ++c) {
        worst = std::max(worst, std::abs(255.0 * got[c] - std::clamp(expected[c], 0.0, 255.0)));
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_LT(worst, 0.01);
}

TEST(ColourProgram, OneKindInARowIsOneStage) {
  const Graph graph = Graph::compile({ScannerColorSpec{}, StainNormalizeSpec{}, HedJitterSpec{0.1},
                                      ColorJitterSpec{0.1, 0.1, 0.1, 0.1}, NormalizeSpec{}},
                                     {8, 8, 0.5, {1}});
  const auto params = graph.draw({1, 1, 1}, fixtures::some_colour(), true);
  ASSERT_EQ(params->before_blur.count, 4);
  EXPECT_EQ(params->before_blur.stages[0].kind, StageKind::density);
  EXPECT_EQ(params->before_blur.stages[1].kind, StageKind::linear);
  EXPECT_EQ(params->before_blur.stages[2].kind, StageKind::limit);
  EXPECT_EQ(params->before_blur.stages[3].kind, StageKind::scale);
}

TEST(ColourProgram, NormalizeIsValueLessMeanOverSpread) {
  const Graph graph =
      Graph::compile({NormalizeSpec{{0.5, 0.4, 0.3}, {0.2, 0.25, 0.1}}}, {8, 8, 0.5, {1}});
  const auto params = graph.draw({1, 1, 1}, {}, true);
  const auto out =
      run(params->before_blur, math::Rgb<float>{255, 0, 51}, math::Rgb<float>{0, 0, 0});
  EXPECT_NEAR(out.r, 2.5, 1e-6);
  EXPECT_NEAR(out.g, -1.6, 1e-6);
  EXPECT_NEAR(out.b, -1.0, 1e-6);
}

TEST(ColourProgram, NeutralJittersChangeNothing) {
  const ColourAffine same = color_jitter(1, 1, 1, 0), od = hed_jitter({0, 0, 0}, {0, 0, 0});
  for (int i = 0; i < 12; ++i) {
    EXPECT_NEAR(same.m[i], ColourAffine{}.m[i], 1e-12);
    EXPECT_NEAR(od.m[i], ColourAffine{}.m[i], 1e-12);
  }
}

}  // namespace
}  // namespace headrace::transform
