#include "headrace/transform/slide/operations/slide_elastic.hpp"

#include "headrace/transform/slide/slide_draw.hpp"

namespace headrace::transform {

Fields ElasticSpec::fields() {
  return {{"grid", form::number(grid, 1, 64), "control cells along each axis"},
          {"magnitude_um", form::number(magnitude_um, 0, 10000), "largest shift, in micrometres"},
          {"probability", form::number(probability, 0, 1), "of being done"}};
}

void ElasticSpec::draw(SlideDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability) || magnitude_um == 0) return;
  ElasticField& field = draw.params.elastic;
  field.grid = grid;
  const std::size_t count = static_cast<std::size_t>(grid + 3) * (grid + 3);
  field.y_um.resize(count);
  field.x_um.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    field.y_um[i] = numbers.between(-magnitude_um, magnitude_um);
    field.x_um[i] = numbers.between(-magnitude_um, magnitude_um);
  }
  draw.record({{"grid", grid}, {"magnitude_um", magnitude_um}});
}

}  // namespace headrace::transform
