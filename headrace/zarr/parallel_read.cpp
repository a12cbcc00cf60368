#include "headrace/zarr/parallel_read.hpp"

#include <algorithm>
#include <vector>

namespace headrace::zarr {
namespace {

constexpr std::int64_t kFewChunks = 4;  // waking threads costs about as much as decoding these

/// Places inside the region, along one axis, where a chunk of the array begins.
std::vector<std::int64_t> chunk_borders(const Array& array, const RegionRead& region,
                                        std::size_t axis) {
  const std::int64_t edge = array.inner_chunk_shape()[axis];
  const std::int64_t begin = std::max<std::int64_t>(region.origin[axis], 0);
  const std::int64_t end =
      std::min(region.origin[axis] + region.shape[axis], array.metadata().shape[axis]);
  std::vector<std::int64_t> borders;
  for (std::int64_t at = (begin / edge + 1) * edge; at < end; at += edge) borders.push_back(at);
  return borders;
}

/// The part [from, to) of the region along the axis, in elements of the array.
RegionRead part_of(const RegionRead& region, std::size_t axis, std::int64_t from, std::int64_t to) {
  RegionRead part = region;
  part.origin[axis] = from;
  part.shape[axis] = to - from;
  part.dst += (from - region.origin[axis]) * region.strides_bytes[axis];
  return part;
}

}  // namespace

void read_parallel(const Array& array, const RegionRead& region, ThreadPool& pool) {
  const std::size_t rank = array.metadata().shape.size();
  const bool fits = region.origin.size() == rank && region.shape.size() == rank &&
                    region.strides_bytes.size() == rank;
  if (!fits || !region.row_spans.empty() || pool.size() == 1) return array.read(region);
  std::size_t axis = 0;
  std::int64_t chunks = 1;
  std::vector<std::int64_t> borders;
  for (std::size_t a = 0; a < rank; ++a) {
    std::vector<std::int64_t> here = chunk_borders(array, region, a);
    chunks *= static_cast<std::int64_t>(here.size()) + 1;
    if (here.size() <= borders.size()) continue;
    borders = std::move(here);
    axis = a;
  }
  if (chunks <= kFewChunks) return array.read(region);
  // What lies outside of the array belongs to the first and the last part.
  borders.insert(borders.begin(), region.origin[axis]);
  borders.push_back(region.origin[axis] + region.shape[axis]);
  pool.parallel_for(borders.size() - 1, [&](std::size_t i) {
    array.read(part_of(region, axis, borders[i], borders[i + 1]));
  });
}

}  // namespace headrace::zarr
