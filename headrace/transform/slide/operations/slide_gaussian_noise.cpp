#include "headrace/transform/slide/operations/slide_gaussian_noise.hpp"

#include "headrace/transform/slide/slide_draw.hpp"
#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {

Fields GaussianNoiseSpec::fields() {
  return {{"sigma", range_form(sigma, 0, 1), "of the noise; full range is 1"},
          {"probability", form::number(probability, 0, 1), "of being done"}};
}

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
