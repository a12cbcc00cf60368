#include "headrace/transform/volume/operations/volume_contrast.hpp"

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

void VolumeContrastSpec::read(YamlMap& map) {
  channel = map.get_string("channel", channel);
  factor = range_of(map, "factor", factor, 0, 100);
  probability = map.get_double("probability", probability, 0, 1);
  preserve_range = map.get_bool("preserve_range", preserve_range);
  bg = map.get_bool("bg", bg);
}

Json VolumeContrastSpec::to_json() const {
  return {{"factor", factor},
          {"probability", probability},
          {"preserve_range", preserve_range},
          {"bg", bg}};
}

void VolumeContrastSpec::draw(VolumeDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double drawn = draw_factor(numbers, factor, bg);
  VolumeStage stage;
  stage.kind = VolumeStageKind::contrast;
  stage.power = static_cast<float>(drawn);
  stage.flag = preserve_range;
  stage.input = draw.passes.statistics();
  draw.passes.stage(stage);
  draw.record({{"factor", drawn}});
}

}  // namespace headrace::transform
