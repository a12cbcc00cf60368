#include "headrace/transform/volume/operations/volume_contrast.hpp"

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

Fields VolumeContrastSpec::fields() {
  return {channel_field(channel),
          {"factor", range_form(factor, 0, 100), "about the patch's mean"},
          {"probability", form::number(probability, 0, 1), "of being done"},
          {"preserve_range", form::flag(preserve_range), "clips to the range before it"},
          {"bg", form::flag(bg), "half of the factors are drawn below 1"}};
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
