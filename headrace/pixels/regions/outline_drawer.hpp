#pragma once
// For use by RegionTracer: the outlines' way between two rows.
#include <cstdint>
#include <vector>

#include "headrace/pixels/regions/outline_pieces.hpp"
#include "headrace/pixels/regions/region_parts.hpp"
#include "headrace/pixels/regions/value_run.hpp"

namespace headrace::pixels {

/// Draws the outlines of all regions, line by line of corners from the top.
class OutlineDrawer {
 public:
  /// Both belong to the caller and must outlive the drawer.
  OutlineDrawer(RegionParts& parts, OutlinePieces& pieces) : parts_(parts), pieces_(pieces) {}

  /// The corners between two rows of the same width, whose lower one is row y; each run of `here`
  /// that is traced must have its region, and gets its `left` and `right` from those of `above`.
  void draw_line(std::vector<ValueRun>& above, std::vector<ValueRun>& here, std::int64_t y);

 private:
  struct Around;
  struct HorizontalEdges;
  void draw_corner(const LinkedCorner& at, const Around& p, HorizontalEdges& edges);
  void draw_inner_corner(const LinkedCorner& corner, const Around& p, HorizontalEdges& edges);
  OutlineOrigins& origins(const ValueRun& run) { return parts_[run.region].origins; }

  RegionParts& parts_;
  OutlinePieces& pieces_;
};

}  // namespace headrace::pixels
