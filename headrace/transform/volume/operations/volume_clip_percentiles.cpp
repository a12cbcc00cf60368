#include "headrace/transform/volume/operations/volume_clip_percentiles.hpp"

#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

ValueUse ClipPercentilesSpec::value_use() const {
  return {.needs_unit = true,
          .statistics = of == "patient" ? StatsSource::patient : StatsSource::foreground};
}

void ClipPercentilesSpec::read(YamlMap& map) {
  channel = map.get_string("channel", channel);
  of = map.get_choice("of", of, {"patient", "foreground"});
}

Json ClipPercentilesSpec::to_json() const { return {{"of", of}}; }

void ClipPercentilesSpec::draw(VolumeDraw& draw) const {
  const IntensityStats& stats = of == "patient" ? draw.known_patient() : draw.foreground;
  draw.passes.stage(linear_stage(0, 1, stats.low, stats.high));
}

}  // namespace headrace::transform
