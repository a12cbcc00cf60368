#include "headrace/transform/volume/operations/volume_gamma.hpp"

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

void VolumeGammaSpec::read(YamlMap& map) {
  channel = map.get_string("channel", channel);
  gamma = range_of(map, "gamma", gamma, 0.05, 20);
  probability = map.get_double("probability", probability, 0, 1);
  invert = map.get_bool("invert", invert);
  retain_stats = map.get_bool("retain_stats", retain_stats);
  bg = map.get_bool("bg", bg);
}

Json VolumeGammaSpec::to_json() const {
  return {{"gamma", gamma},
          {"probability", probability},
          {"invert", invert},
          {"retain_stats", retain_stats},
          {"bg", bg}};
}

void VolumeGammaSpec::draw(VolumeDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double drawn = draw_factor(numbers, gamma, bg);
  VolumeStage stage;
  stage.kind = VolumeStageKind::stretch;
  stage.power = static_cast<float>(drawn);
  stage.flag = invert;
  stage.input = draw.passes.statistics();
  draw.passes.stage(stage);
  if (retain_stats) {
    VolumeStage restore;
    restore.kind = VolumeStageKind::restore;
    restore.before = stage.input;
    restore.input = draw.passes.statistics();
    draw.passes.stage(restore);
  }
  draw.record({{"gamma", drawn}});
}

}  // namespace headrace::transform
