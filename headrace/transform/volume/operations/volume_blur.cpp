#include "headrace/transform/volume/operations/volume_blur.hpp"

#include <algorithm>

#include "headrace/transform/gaussian.hpp"
#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"
#include "headrace/transform/volume/voxel_kernel.hpp"

namespace headrace::transform {

Fields VolumeBlurSpec::fields() {
  return {channel_field(channel),
          {"sigma", range_form(sigma, 0, 8), "of the Gaussian, in voxels"},
          {"probability", form::number(probability, 0, 1), "of being done"}};
}

void VolumeBlurSpec::draw(VolumeDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double drawn = numbers.between(sigma[0], sigma[1]);
  if (drawn == 0) return;
  draw.passes.neighbours(VolumePass::Kind::blur, drawn, {});
  draw.record({{"sigma_voxels", drawn}});
}

VolumeBlurKernel volume_blur_kernel(double sigma, const VolumePatchSpec& patch, float* dst) {
  VolumeBlurKernel k{};
  k.radius = std::min(static_cast<int>(4.0 * sigma + 0.5), VolumeBlurKernel::kMaxRadius);
  const std::vector<double> weights = gaussian_weights(sigma, k.radius);
  for (int i = 0; i <= 2 * k.radius; ++i) k.weights[i] = static_cast<float>(weights[i]);
  std::copy(patch.size_zyx.begin(), patch.size_zyx.end(), k.size);
  k.dst = dst;
  return k;
}

}  // namespace headrace::transform
