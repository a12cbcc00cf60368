#include "headrace/transform/slide/operations/slide_hed_jitter.hpp"

#include "headrace/transform/slide/slide_draw.hpp"
#include "headrace/transform/slide/stain_vectors.hpp"

namespace headrace::transform {

Fields HedJitterSpec::fields() {
  return {{"sigma", form::number(sigma, 0, 1), "concentrations times 1 ± this, plus ± this"}};
}

void HedJitterSpec::draw(SlideDraw& draw) const {
  if (!draw.random) return;
  EntryStream numbers = draw.stream();
  std::array<double, 3> factor, shift;
  for (int stain = 0; stain < 3; ++stain) {
    factor[stain] = numbers.between(-sigma, sigma);
    shift[stain] = numbers.between(-sigma, sigma);
  }
  draw.program.density(hed_jitter(factor, shift));
  draw.record({{"h_factor", 1 + factor[0]},
               {"h_shift", shift[0]},
               {"e_factor", 1 + factor[1]},
               {"e_shift", shift[1]},
               {"d_factor", 1 + factor[2]},
               {"d_shift", shift[2]}});
}

ColourAffine hed_jitter(const std::array<double, 3>& factor, const std::array<double, 3>& shift) {
  const Mat3 stains = ruifrok_stains();
  Mat3 scaled = stains;
  std::array<double, 3> offset{};
  for (int r = 0; r < 3; ++r) {
    for (int stain = 0; stain < 3; ++stain) {
      scaled[r * 3 + stain] *= 1.0 + factor[stain];
      offset[r] += stains[r * 3 + stain] * shift[stain];
    }
  }
  return affine_of(multiply(scaled, inverse(stains)), offset);
}

}  // namespace headrace::transform
