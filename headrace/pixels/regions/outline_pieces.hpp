#pragma once
// For use by RegionTracer: outlines while they are drawn.
#include <cstdint>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/pixels/regions/value_run.hpp"

namespace headrace::pixels {

/// A corner of an outline. In a pinch the pixel on the other side of the corner has the same value
/// and neither of the two beside them has.
struct LinkedCorner {
  std::uint32_t x : 31, pinch : 1;
  std::int32_t y;                        ///< -1: not in use
  std::uint32_t next = kNowhere;         ///< in the direction of the outline
  std::uint32_t next_origin = kNowhere;  ///< of the region; see OutlineOrigins
};

/// A region's corners where a piece of an outline began. They are tops of outlines, so each outline
/// has one at least; pieces join without anyone knowing which is which, and their outlines are
/// found from here in the end.
struct OutlineOrigins {
  std::uint32_t first = kNowhere, last = kNowhere;
};

/// The pieces of unfinished outlines: linked lists, so that two join in constant time and their
/// ends are all that must be known of them. The region is to the right of the direction. Each
/// function gives the new corner.
class OutlinePieces {
 public:
  std::uint32_t begin(const LinkedCorner& corner, OutlineOrigins& origins) {
    const std::uint32_t at = take(corner);
    (origins.first == kNowhere ? origins.first : corners_[origins.last].next_origin) = at;
    origins.last = at;
    return at;
  }
  std::uint32_t append(std::uint32_t last, const LinkedCorner& corner) {
    const std::uint32_t at = take(corner);
    corners_[last].next = at;
    return at;
  }
  std::uint32_t prepend(const LinkedCorner& corner, std::uint32_t first) {
    const std::uint32_t at = take(corner);
    corners_[at].next = first;
    return at;
  }
  void join(std::uint32_t last, const LinkedCorner& corner, std::uint32_t first) {
    corners_[append(last, corner)].next = first;
  }

  void unite(OutlineOrigins& to, const OutlineOrigins& from) {
    if (from.first == kNowhere) return;
    (to.first == kNowhere ? to.first : corners_[to.last].next_origin) = from.first;
    to.last = from.last;
  }

  /// Calls body(outline), closed outlines as std::vector<LinkedCorner>, and forgets them.
  template <typename Body>
  void drain(const OutlineOrigins& origins, const Body& body) {
    for (std::uint32_t at = origins.first; at != kNowhere; at = corners_[at].next_origin) {
      if (corners_[at].y < 0) continue;  // a second origin of an outline that is done
      outline_.clear();
      for (std::uint32_t i = at; corners_[i].y >= 0;) {
        outline_.push_back(corners_[i]);
        corners_[i].y = -1;
        i = std::exchange(corners_[i].next, std::exchange(free_, i));
      }
      body(outline_);
    }
  }

 private:
  std::uint32_t take(const LinkedCorner& corner) {
    if (free_ == kNowhere) {
      if (corners_.size() == kNowhere)
        fail(ErrorCode::memory,
             "outlines of regions: over {} corners of unfinished regions; trace fewer values, or a "
             "smoother image",
             kNowhere);
      corners_.push_back(corner);
      return static_cast<std::uint32_t>(corners_.size() - 1);
    }
    const std::uint32_t at = std::exchange(free_, corners_[free_].next);
    corners_[at] = corner;
    return at;
  }

  std::vector<LinkedCorner> corners_;
  std::uint32_t free_ = kNowhere;
  std::vector<LinkedCorner> outline_;
};

}  // namespace headrace::pixels
