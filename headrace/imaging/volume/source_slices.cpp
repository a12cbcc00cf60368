#include "headrace/imaging/volume/source_slices.hpp"

#include <cmath>

namespace headrace::imaging {

SourceSlices::SourceSlices(const VolumeGrid& grid, int axis, const SlicePlaces& places) {
  const auto count = static_cast<std::size_t>(grid.shape_zyx[2 - static_cast<std::size_t>(axis)]);
  const bool moved = !places.even() && places.axis == axis && places.offsets_mm.size() == count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto index = static_cast<double>(i);
    if (!moved) {
      places_.emplace_back(index);
    } else if (const auto& offset = places.offsets_mm[i]) {
      places_.emplace_back(index + *offset / grid.spacing_mm(axis));
    } else {
      places_.emplace_back(std::nullopt);
    }
  }
}

std::int64_t SourceSlices::nearest(double index) const {
  std::int64_t best = 0;
  double least = 1e300;
  for (std::int64_t i = 0; i < count(); ++i) {
    const auto& at = place(i);
    if (!at || std::abs(*at - index) >= least) continue;
    least = std::abs(*at - index);
    best = i;
  }
  return best;
}

}  // namespace headrace::imaging
