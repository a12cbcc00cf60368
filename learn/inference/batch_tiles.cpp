#include "learn/inference/batch_tiles.hpp"

#include <algorithm>

namespace headrace::inference {

void tiles_of(const loader::Batch& batch, const Network::There& predicted, std::int64_t classes,
              std::vector<TileResult>& out) {
  const std::int64_t pixels = std::max<std::int64_t>(1, batch.depth) * batch.height * batch.width;
  out.clear();
  for (std::int64_t s = 0; s < batch.samples; ++s) {
    const loader::SampleSite& site = batch.sites[static_cast<std::size_t>(s)];
    out.push_back({site.image,
                   {site.tile_z, site.tile_yx[0], site.tile_yx[1]},
                   predicted.probabilities + s * classes * pixels,
                   predicted.labels == nullptr ? nullptr : predicted.labels + s * pixels});
  }
}

}  // namespace headrace::inference
