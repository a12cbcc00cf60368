#include "headrace/imaging/volume/slice_places.hpp"

#include <algorithm>

namespace headrace::imaging {

std::size_t SlicePlaces::filled() const {
  return static_cast<std::size_t>(std::count(offsets_mm.begin(), offsets_mm.end(), std::nullopt));
}

SlicePlaces reordered(const SlicePlaces& source, const AxisMap& map) {
  SlicePlaces out = source;
  const auto at = std::find(map.axis.begin(), map.axis.end(), source.axis);
  out.axis = static_cast<int>(at - map.axis.begin());
  if (!map.flip[static_cast<std::size_t>(out.axis)]) return out;
  std::reverse(out.offsets_mm.begin(), out.offsets_mm.end());
  for (auto& offset : out.offsets_mm) {
    if (offset) *offset = -*offset;
  }
  return out;
}

}  // namespace headrace::imaging
