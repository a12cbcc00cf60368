#include "learn/view/volume/lesion_contours.hpp"

#include <bitset>
#include <cstddef>
#include <utility>

#include "headrace/pixels/regions/region_tracer.hpp"

namespace headrace::view {

std::vector<pixels::Ring> lesion_contours(const VoxelSource& lesions, std::uint64_t number,
                                          std::int64_t z) {
  const std::int64_t width = lesions.scales().front().shape_zyx[2];
  const auto row = static_cast<std::size_t>(width);
  const std::vector<std::byte> bytes = axial_slice(lesions, z);
  std::bitset<256> traced;
  traced.set(number);
  std::vector<pixels::Ring> rings;
  pixels::RegionTracer tracer(width, traced, 0, true, [&](pixels::TracedRegion&& part) {
    for (const auto& corners : part.rings) {
      pixels::Ring& ring = rings.emplace_back();
      for (const pixels::Corner& corner : corners)
        ring.push_back({static_cast<double>(corner.x), static_cast<double>(corner.y)});
    }
  });
  const auto* voxels = reinterpret_cast<const std::uint8_t*>(bytes.data());
  for (std::size_t at = 0; at < bytes.size(); at += row) tracer.add({voxels + at, row}, {});
  tracer.finish();
  return rings;
}

}  // namespace headrace::view
