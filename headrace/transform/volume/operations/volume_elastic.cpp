#include "headrace/transform/volume/operations/volume_elastic.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

Fields VolumeElasticSpec::fields() {
  return {{"grid", form::number(grid, 1, 32), "control cells along each axis"},
          {"magnitude_mm", form::number(magnitude_mm, 0, 500), "largest shift, in millimetres"},
          {"probability", form::number(probability, 0, 1), "of being done"}};
}

void VolumeElasticSpec::draw(VolumeDraw& draw) const {
  if (!draw.random || magnitude_mm == 0) return;
  EntryStream numbers = draw.geometry_stream();
  if (!numbers.chance(probability)) return;
  VolumeElasticField& field = draw.params.elastic;
  field.grid = grid;
  const auto edge = static_cast<std::size_t>(grid + 3);
  for (auto& axis : field.mm) axis.resize(edge * edge * edge);
  double most = 0;
  for (std::size_t i = 0; i < edge * edge * edge; ++i) {
    for (auto& axis : field.mm) {
      axis[i] = numbers.between(-magnitude_mm, magnitude_mm);
      most = std::max(most, std::abs(axis[i]));
    }
  }
  draw.record({{"grid", grid}, {"largest_control_mm", most}});
}

}  // namespace headrace::transform
