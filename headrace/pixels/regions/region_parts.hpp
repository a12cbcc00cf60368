#pragma once
// For use by RegionTracer: regions while they grow.
#include <cstdint>
#include <vector>

#include "headrace/pixels/regions/outline_pieces.hpp"
#include "headrace/pixels/regions/region_tracer.hpp"

namespace headrace::pixels {

/// What is known of a region so far.
struct RegionPart {
  std::uint32_t parent = kNowhere;  ///< itself, or a part that it has become one with
  TracedRegion region;
  OutlineOrigins origins;
};

/// Whether the first pixel of `a` comes before that of `b`, row by row.
bool first_before(const TracedRegion& a, const TracedRegion& b);

/// Adds the figures of `from`, a part of the same region, with or without sums.
void add_figures(const TracedRegion& from, TracedRegion& to);

/// The unfinished regions: a union-find forest whose entries are used again.
class RegionParts {
 public:
  RegionPart& operator[](std::uint32_t i) { return parts_[i]; }

  /// A new part; gives its place.
  std::uint32_t add(TracedRegion&& region);
  std::uint32_t root(std::uint32_t i) {
    while (parts_[i].parent != i) i = parts_[i].parent = parts_[parts_[i].parent].parent;
    return i;
  }
  /// Makes two parts one.
  void unite(std::uint32_t a, std::uint32_t b, OutlinePieces& pieces);
  void release(std::uint32_t i) { free_.push_back(i); }
  /// Releases all that are no root; no run may refer to them any more.
  void release_united() {
    free_.insert(free_.end(), united_.begin(), united_.end());
    united_.clear();
  }

 private:
  std::vector<RegionPart> parts_;
  std::vector<std::uint32_t> free_, united_;
};

}  // namespace headrace::pixels
