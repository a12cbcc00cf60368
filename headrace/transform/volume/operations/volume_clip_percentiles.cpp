#include "headrace/transform/volume/operations/volume_clip_percentiles.hpp"

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

ValueUse ClipPercentilesSpec::value_use() const {
  const bool patient = of == PercentilesOf::patient;
  return {.needs_unit = true,
          .statistics = patient ? StatsSource::patient : StatsSource::foreground};
}

Fields ClipPercentilesSpec::fields() {
  return {channel_field(channel),
          {"of", form::choice(of), "whose percentiles: of the body, or of labelled voxels"}};
}

void ClipPercentilesSpec::draw(VolumeDraw& draw) const {
  const IntensityStats& stats =
      of == PercentilesOf::patient ? draw.known_patient() : draw.foreground;
  draw.passes.stage(linear_stage(0, 1, stats.low, stats.high));
}

}  // namespace headrace::transform
