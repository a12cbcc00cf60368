#include "headrace/pixels/regions/region_parts.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace headrace::pixels {

bool first_before(const TracedRegion& a, const TracedRegion& b) {
  return std::tie(a.first_y, a.first_x) < std::tie(b.first_y, b.first_x);
}

void add_figures(const TracedRegion& from, TracedRegion& to) {
  if (first_before(from, to)) {
    to.first_y = from.first_y;
    to.first_x = from.first_x;
  }
  to.pixels += from.pixels;
  to.y0 = std::min(to.y0, from.y0);
  to.x0 = std::min(to.x0, from.x0);
  to.y1 = std::max(to.y1, from.y1);
  to.x1 = std::max(to.x1, from.x1);
  for (std::size_t i = 0; i < 2; ++i) to.doubled_yx[i] += from.doubled_yx[i];
  for (std::size_t c = 0; c < from.sums.size(); ++c) to.sums[c] += from.sums[c];
}

std::uint32_t RegionParts::add(TracedRegion&& region) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(parts_.size()));
    parts_.emplace_back();
  }
  const std::uint32_t i = free_.back();
  free_.pop_back();
  parts_[i] = {i, std::move(region), {}};
  return i;
}

void RegionParts::unite(std::uint32_t a, std::uint32_t b, OutlinePieces& pieces) {
  a = root(a);
  b = root(b);
  if (a == b) return;
  parts_[b].parent = a;
  add_figures(parts_[b].region, parts_[a].region);
  pieces.unite(parts_[a].origins, parts_[b].origins);
  united_.push_back(b);
}

}  // namespace headrace::pixels
