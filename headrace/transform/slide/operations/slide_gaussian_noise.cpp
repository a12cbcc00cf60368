#include "headrace/transform/slide/operations/slide_gaussian_noise.hpp"

#include "headrace/transform/slide/slide_draw.hpp"
#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {

void GaussianNoiseSpec::read(YamlMap& map) {
  sigma = range_of(map, "sigma", sigma, 0, 1);
  probability = map.get_double("probability", probability, 0, 1);
}

Json GaussianNoiseSpec::to_json() const { return {{"sigma", sigma}, {"probability", probability}}; }

void GaussianNoiseSpec::draw(SlideDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double drawn = numbers.between(sigma[0], sigma[1]);
  if (drawn == 0) return;
  draw.params.noise = {draw.words.key0, draw.words.key1,
                       static_cast<std::uint32_t>(draw.entry) << 16, draw.words.counter3};
  draw.program.noise(drawn);
  draw.record({{"sigma", drawn}});
}

}  // namespace headrace::transform
