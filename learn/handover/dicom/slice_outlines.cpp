#include "learn/handover/dicom/slice_outlines.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::handover {
namespace {

using pixels::Corner;
using Ring = std::vector<Corner>;

bool above_or_left(const Corner& a, const Corner& b) {
  return std::pair(a.y, a.x) < std::pair(b.y, b.x);
}

/// Where a cut that goes left from a hole's corner ends: a point of the edge that begins at
/// outline[edge].
struct Landing {
  std::size_t edge = 0;
  Corner point;
};

/// Only vertical edges have to be looked at: each corner of a ring is the end of one. All pixels
/// between the corner and the nearest edge belong to the region, since the hole has nothing further
/// up, or as far up and further left.
Landing landing_left_of(const Corner& from, const Ring& outline) {
  const Corner* best = nullptr;
  std::size_t edge = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Corner& a = outline[i];
    const Corner& b = outline[(i + 1) % outline.size()];
    if (a.x != b.x || a.x > from.x || (best != nullptr && a.x <= best->x)) continue;
    if (from.y < std::min(a.y, b.y) || from.y > std::max(a.y, b.y)) continue;
    best = &a;
    edge = i;
  }
  if (best == nullptr) {
    fail(ErrorCode::internal, "a hole at pixel corner ({}, {}) lies outside its outline.", from.x,
         from.y);
  }
  return {edge, {best->x, from.y}};
}

void cut_to_hole(Ring& outline, const Ring& hole) {
  const Landing landing = landing_left_of(hole.front(), outline);
  Ring detour{landing.point};
  detour.insert(detour.end(), hole.begin(), hole.end());
  detour.push_back(hole.front());
  detour.push_back(landing.point);
  outline.insert(outline.begin() + static_cast<std::ptrdiff_t>(landing.edge) + 1, detour.begin(),
                 detour.end());
  outline.erase(std::unique(outline.begin(), outline.end()), outline.end());
  if (outline.size() > 1 && outline.front() == outline.back()) outline.pop_back();
}

}  // namespace

std::vector<Corner> joined_rings(std::vector<Ring> rings) {
  for (auto ring = rings.begin() + 1; ring != rings.end(); ++ring) {
    std::rotate(ring->begin(), std::min_element(ring->begin(), ring->end(), above_or_left),
                ring->end());
  }
  // From the top, so that a cut always ends at a ring that is already joined.
  std::sort(rings.begin() + 1, rings.end(),
            [](const Ring& a, const Ring& b) { return above_or_left(a.front(), b.front()); });
  Ring outline = std::move(rings.front());
  for (std::size_t hole = 1; hole < rings.size(); ++hole) cut_to_hole(outline, rings[hole]);
  return outline;
}

std::vector<SliceOutline> slice_outlines(std::span<const std::uint8_t> slice, std::int64_t width,
                                         const std::bitset<256>& traced) {
  std::vector<SliceOutline> outlines;
  pixels::RegionTracer tracer(width, traced, 0, true, [&](pixels::TracedRegion&& region) {
    outlines.push_back({region.value, joined_rings(std::move(region.rings))});
  });
  for (auto rest = slice; !rest.empty(); rest = rest.subspan(static_cast<std::size_t>(width))) {
    tracer.add(rest.first(static_cast<std::size_t>(width)), {});
  }
  tracer.finish();
  return outlines;
}

}  // namespace headrace::handover
