#include "headrace/imaging/dicom/ring_union.hpp"

#include <algorithm>
#include <numeric>

#include "headrace/imaging/dicom/ring_geometry.hpp"

namespace headrace::imaging {
namespace {

using pixels::Ring;

enum class Lie { apart, within, crossing };

/// How a ring lies to a larger one.
Lie lie_of(const Ring& ring, const Ring& larger) {
  constexpr double kSlipped = 0.05;
  const RingBox box(ring);
  if (!box.meets(RingBox(larger))) return Lie::apart;
  const SharedPixels pixels = shared_pixels(ring, larger, box);
  if (pixels.a == 0) return points_within(ring, larger) ? Lie::within : Lie::apart;
  if (pixels.both == 0) return Lie::apart;
  const auto outside = static_cast<double>(pixels.a - pixels.both);
  return outside <= kSlipped * static_cast<double>(pixels.a) ? Lie::within : Lie::crossing;
}

}  // namespace

RingUnion::RingUnion(const std::vector<Ring>& rings, bool even_odd) : rings_(rings) {
  const std::size_t count = rings.size();
  if (even_odd || count < 2) return;
  std::vector<std::vector<bool>> within(count, std::vector<bool>(count));
  std::vector<bool> crosses(count);
  std::vector<double> areas;
  for (const Ring& ring : rings) areas.push_back(area_of(ring));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const bool smaller = areas[i] < areas[j] || (areas[i] == areas[j] && i > j);
      if (i == j || !smaller) continue;
      const Lie lie = lie_of(rings[i], rings[j]);
      within[i][j] = lie == Lie::within;
      if (lie == Lie::crossing) crosses[i] = crosses[j] = true;
    }
  }
  joined_ = static_cast<std::size_t>(std::count(crosses.begin(), crosses.end(), true));
  if (joined_ > 0) within_ = std::move(within);
}

RingUnion::Bits RingUnion::area_of_all(const std::vector<std::size_t>& chosen, std::int64_t height,
                                       std::int64_t width) const {
  Bits area(static_cast<std::size_t>(height * width));
  for (const std::size_t outer : chosen) {
    const bool largest = std::none_of(chosen.begin(), chosen.end(),
                                      [&](std::size_t other) { return within_[outer][other]; });
    if (!largest) continue;
    Bits own(area.size());
    pixels::PolygonRaster raster;
    raster.add({rings_[outer]}, 1, 1, 0.5);
    raster.paint(0, 0, height, width, own.data(), width);
    std::vector<std::size_t> inner;
    std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(inner),
                 [&](std::size_t other) { return within_[other][outer]; });
    const Bits holes = inner.empty() ? Bits(area.size()) : area_of_all(inner, height, width);
    for (std::size_t i = 0; i < area.size(); ++i) area[i] |= own[i] & ~holes[i] & 1;
  }
  return area;
}

void RingUnion::paint(std::int64_t height, std::int64_t width, std::uint16_t value,
                      std::uint16_t* dst) const {
  if (within_.empty()) {
    pixels::PolygonRaster raster;
    raster.add(rings_, value, 1, 0.5);  // where 0.5 is the centre of the first voxel
    raster.paint(0, 0, height, width, dst, width);
    return;
  }
  std::vector<std::size_t> all(rings_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Bits area = area_of_all(all, height, width);
  for (std::size_t i = 0; i < area.size(); ++i) {
    if (area[i] != 0) dst[i] = value;
  }
}

}  // namespace headrace::imaging
