#include "headrace/transform/volume/operations/volume_brightness.hpp"

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

Fields VolumeBrightnessSpec::fields() {
  return {channel_field(channel),
          {"factor", range_form(factor, 0, 100), "times this"},
          {"probability", form::number(probability, 0, 1), "of being done"},
          {"bg", form::flag(bg), "half of the factors are drawn below 1"}};
}

void VolumeBrightnessSpec::draw(VolumeDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double drawn = draw_factor(numbers, factor, bg);
  draw.passes.stage(linear_stage(0, drawn));
  draw.record({{"factor", drawn}});
}

}  // namespace headrace::transform
