#include "headrace/transform/slide/operations/slide_normalize.hpp"

#include "headrace/transform/slide/slide_draw.hpp"

namespace headrace::transform {
namespace {

ColourAffine normalization(const std::array<double, 3>& mean, const std::array<double, 3>& std) {
  ColourAffine out;
  for (int channel = 0; channel < 3; ++channel) {
    out.m[channel * 5] = 1.0 / std[channel];
    out.m[channel * 4 + 3] = -mean[channel] / std[channel];
  }
  return out;
}

}  // namespace

Fields NormalizeSpec::fields() {
  return {{"mean", form::numbers(mean, -10, 10), "subtracted from red, green, blue in 0 to 1"},
          {"std", form::numbers(std, 1e-6, 1000), "divides red, green, blue"}};
}

void NormalizeSpec::draw(SlideDraw& draw) const { draw.to_output = normalization(mean, std); }

}  // namespace headrace::transform
