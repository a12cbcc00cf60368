#include "headrace/transform/volume/operations/volume_brightness.hpp"

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

void VolumeBrightnessSpec::read(YamlMap& map) {
  channel = map.get_string("channel", channel);
  factor = range_of(map, "factor", factor, 0, 100);
  probability = map.get_double("probability", probability, 0, 1);
  bg = map.get_bool("bg", bg);
}

Json VolumeBrightnessSpec::to_json() const {
  return {{"factor", factor}, {"probability", probability}, {"bg", bg}};
}

void VolumeBrightnessSpec::draw(VolumeDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double drawn = draw_factor(numbers, factor, bg);
  draw.passes.stage(linear_stage(0, drawn));
  draw.record({{"factor", drawn}});
}

}  // namespace headrace::transform
