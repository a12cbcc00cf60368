#include "headrace/transform/volume/operations/volume_gaussian_noise.hpp"

#include <cmath>

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

Fields VolumeNoiseSpec::fields() {
  Form of_variance = range_form(sigma, 0, 1e6);
  of_variance.read = [this, read = of_variance.read](const YamlValue& from) {
    read(from);
    variance = true;
  };
  return {channel_field(channel),
          Field{"sigma", range_form(sigma, 0, 1e6), "of the noise"}.written_if(!variance),
          Field{"variance", of_variance, "of the noise, instead of sigma"}.written_if(variance),
          {"probability", form::number(probability, 0, 1), "of being done"}};
}

void VolumeNoiseSpec::check(YamlMap& map) const {
  if (variance && map.find("sigma"))
    map.require("variance").reject("both sigma and variance; keep one of them");
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
