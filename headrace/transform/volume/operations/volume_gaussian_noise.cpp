#include "headrace/transform/volume/operations/volume_gaussian_noise.hpp"

#include <cmath>

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

void VolumeNoiseSpec::read(YamlMap& map) {
  channel = map.get_string("channel", channel);
  const auto given = map.find("variance");
  if (given && map.find("sigma")) given->reject("both sigma and variance; keep one of them");
  variance = given.has_value();
  sigma = range_of(map, variance ? "variance" : "sigma", sigma, 0, 1e6);
  probability = map.get_double("probability", probability, 0, 1);
}

Json VolumeNoiseSpec::to_json() const {
  return {{variance ? "variance" : "sigma", sigma}, {"probability", probability}};
}

void VolumeNoiseSpec::draw(VolumeDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double value = numbers.between(sigma[0], sigma[1]);
  const double drawn = variance ? std::sqrt(value) : value;
  if (drawn == 0) return;
  VolumeStage stage;
  stage.kind = VolumeStageKind::noise;
  stage.power = static_cast<float>(drawn);
  stage.stream = static_cast<std::uint32_t>(draw.entry) << 16 | draw.channel;
  draw.passes.stage(stage);
  draw.record({{"sigma", drawn}});
}

}  // namespace headrace::transform
