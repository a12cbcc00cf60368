#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "headrace/pixels/regions/outline_pieces.hpp"
#include "headrace/pixels/regions/region_tracer.hpp"

namespace headrace::pixels {

/// Splits an outline where it touches itself. At a pinch it keeps to one pixel, since whether the
/// other one is of the same region shows only later. If it is, the outline comes back, and what lies
/// between is an outline of its own: the region is connected, so it goes around one of the two
/// pixels beside the pinch. Two such parts never interlace, because an outline doesn't cross itself.
class OutlineSplitter {
 public:
  /// Adds the parts of a closed outline to `rings`, each from its first corner row by row.
  void split(const std::vector<LinkedCorner>& outline, std::vector<std::vector<Corner>>& rings);

 private:
  std::vector<Corner> ring_from(std::size_t begin) const;

  std::vector<Corner> path_;
  /// By corner, as (y, x): where it is in path_.
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> pinches_;
};

}  // namespace headrace::pixels
