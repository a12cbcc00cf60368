#include "headrace/transform/volume/operations/volume_low_resolution.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"
#include "headrace/transform/volume/voxel_kernel.hpp"

namespace headrace::transform {

Fields LowResolutionSpec::fields() {
  return {channel_field(channel),
          {"scale", range_form(scale, 0.01, 1), "reduction of the edge"},
          {"probability", form::number(probability, 0, 1), "of being done"}};
}

void LowResolutionSpec::draw(VolumeDraw& draw) const {
  EntryStream numbers = draw.stream();
  if (!draw.random || !numbers.chance(probability)) return;
  const double drawn = numbers.between(scale[0], scale[1]);
  std::array<std::int32_t, 3> small{};
  for (std::size_t i = 0; i < 3; ++i) {
    small[i] =
        std::max(1, static_cast<std::int32_t>(std::nearbyint(draw.patch.size_zyx[i] * drawn)));
  }
  draw.passes.neighbours(VolumePass::Kind::low_resolution, 0, small);
  draw.record({{"scale", drawn}});
}

LowResolutionKernel low_resolution_kernel(const std::array<std::int32_t, 3>& small,
                                          const VolumePatchSpec& patch, float* dst) {
  LowResolutionKernel k{};
  for (std::size_t i = 0; i < 3; ++i) {
    k.size[i] = patch.size_zyx[i];
    k.small[i] = small[i];
    k.reduce[i] = static_cast<float>(double(k.size[i]) / k.small[i]);
    k.enlarge[i] = static_cast<float>(double(k.small[i]) / k.size[i]);
  }
  k.dst = dst;
  return k;
}

}  // namespace headrace::transform
