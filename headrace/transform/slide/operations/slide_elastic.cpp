#include "headrace/transform/slide/operations/slide_elastic.hpp"

#include "headrace/transform/slide/slide_draw.hpp"

namespace headrace::transform {

void ElasticSpec::read(YamlMap& map) {
  grid = static_cast<int>(map.get_int("grid", grid, 1, 64));
  magnitude_um = map.get_double("magnitude_um", magnitude_um, 0, 10000);
  probability = map.get_double("probability", probability, 0, 1);
}

Json ElasticSpec::to_json() const {
  return {{"grid", grid}, {"magnitude_um", magnitude_um}, {"probability", probability}};
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
