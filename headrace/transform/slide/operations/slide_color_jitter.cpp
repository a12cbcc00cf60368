#include "headrace/transform/slide/operations/slide_color_jitter.hpp"

#include "headrace/math/trigonometry.hpp"
#include "headrace/transform/slide/matrix3.hpp"
#include "headrace/transform/slide/slide_draw.hpp"

namespace headrace::transform {

Fields ColorJitterSpec::fields() {
  return {{"brightness", form::number(brightness, 0, 1), "factor in 1 ± this"},
          {"contrast", form::number(contrast, 0, 1), "factor in 1 ± this"},
          {"saturation", form::number(saturation, 0, 1), "factor in 1 ± this"},
          {"hue", form::number(hue, 0, 0.5), "shift in ± this, in turns"}};
}

void ColorJitterSpec::draw(SlideDraw& draw) const {
  if (!draw.random) return;
  EntryStream numbers = draw.stream();
  const double light = numbers.between(1 - brightness, 1 + brightness);
  const double spread = numbers.between(1 - contrast, 1 + contrast);
  const double chroma = numbers.between(1 - saturation, 1 + saturation);
  const double turn = numbers.between(-hue, hue);
  draw.program.linear(color_jitter(light, spread, chroma, turn));
  draw.record({{"brightness", light}, {"contrast", spread}, {"saturation", chroma}, {"hue", turn}});
}

ColourAffine color_jitter(double brightness, double contrast, double saturation, double hue) {
  constexpr std::array<double, 3> kLuma{0.299, 0.587, 0.114};
  ColourAffine light;
  for (int channel = 0; channel < 3; ++channel) {
    light.m[channel * 5] = brightness * contrast;
    light.m[channel * 4 + 3] = 0.5 * (1.0 - contrast);
  }
  Mat3 vivid{};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      vivid[r * 3 + c] = (1.0 - saturation) * kLuma[c] + (r == c ? saturation : 0.0);
    }
  }
  constexpr Mat3 kYiq{0.299,       0.587,      0.114,       0.59590059, -0.27455667,
                      -0.32134392, 0.21153661, -0.52273617, 0.31119955};
  double sine, cosine;
  math::sine_cosine(hue, sine, cosine);
  const Mat3 turn{1, 0, 0, 0, cosine, -sine, 0, sine, cosine};
  const Mat3 hued = multiply(inverse(kYiq), multiply(turn, kYiq));
  return affine_of(multiply(hued, vivid), {0, 0, 0}) * light;
}

}  // namespace headrace::transform
