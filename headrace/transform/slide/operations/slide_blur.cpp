#include "headrace/transform/slide/operations/slide_blur.hpp"

#include <algorithm>

#include "headrace/transform/gaussian.hpp"
#include "headrace/transform/slide/patch_kernel.hpp"
#include "headrace/transform/slide/slide_draw.hpp"
#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {

Fields BlurSpec::fields() {
  return {{"sigma", range_form(sigma, 0, 20), "of the Gaussian, in pixels"},
          {"probability", form::number(probability, 0, 1), "of being done"}};
}

void BlurSpec::draw(SlideDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double drawn = numbers.between(sigma[0], sigma[1]);
  if (drawn == 0) return;
  draw.program.blur(drawn);
  draw.record({{"sigma_px", drawn}});
}

BlurKernel blur_kernel(double sigma, const PatchSpec& patch, float* dst) {
  BlurKernel k{};
  k.radius = std::min(static_cast<int>(4.0 * sigma + 0.5), BlurKernel::kMaxRadius);
  k.height = patch.height;
  k.width = patch.width;
  k.dst = dst;
  const std::vector<double> weights = gaussian_weights(sigma, k.radius);
  for (int i = 0; i <= 2 * k.radius; ++i) k.weights[i] = static_cast<float>(weights[i]);
  return k;
}

}  // namespace headrace::transform
