#include "headrace/transform/volume/operations/volume_gamma.hpp"

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

Fields VolumeGammaSpec::fields() {
  return {channel_field(channel),
          {"gamma", range_form(gamma, 0.05, 20), "power, on the patch's range"},
          {"probability", form::number(probability, 0, 1), "of being done"},
          {"invert", form::flag(invert), "of the negated image"},
          {"retain_stats", form::flag(retain_stats), "puts the patch's mean and spread back"},
          {"bg", form::flag(bg), "half of the powers are drawn below 1"}};
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
