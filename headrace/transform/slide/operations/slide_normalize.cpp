#include "headrace/transform/slide/operations/slide_normalize.hpp"

#include "headrace/transform/slide/slide_draw.hpp"

namespace headrace::transform {
namespace {

std::array<double, 3> rgb_of(YamlMap& map, const std::string& key, std::array<double, 3> fallback,
                             double least, double most) {
  const auto value = map.find(key);
  if (!value) return fallback;
  const auto channels = value->as_list(3);
  return {channels[0].as_double(least, most), channels[1].as_double(least, most),
          channels[2].as_double(least, most)};
}

ColourAffine normalization(const std::array<double, 3>& mean, const std::array<double, 3>& std) {
  ColourAffine out;
  for (int channel = 0; channel < 3; ++channel) {
    out.m[channel * 5] = 1.0 / std[channel];
    out.m[channel * 4 + 3] = -mean[channel] / std[channel];
  }
  return out;
}

}  // namespace

void NormalizeSpec::read(YamlMap& map) {
  mean = rgb_of(map, "mean", mean, -10, 10);
  std = rgb_of(map, "std", std, 1e-6, 1000);
}

Json NormalizeSpec::to_json() const { return {{"mean", mean}, {"std", std}}; }

void NormalizeSpec::draw(SlideDraw& draw) const { draw.to_output = normalization(mean, std); }

}  // namespace headrace::transform
