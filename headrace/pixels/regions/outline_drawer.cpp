#include "headrace/pixels/regions/outline_drawer.hpp"

#include <algorithm>

namespace headrace::pixels {

/// The four pixels around a corner: above and below, left and right.
struct OutlineDrawer::Around {
  ValueRun &above_left, &above_right, &below_left, &below_right;
};

/// The horizontal edges that leave a corner to the right: of the region above, which go left, the
/// first corner of their piece; of the region below, which go right, the last.
struct OutlineDrawer::HorizontalEdges {
  std::uint32_t above = kNowhere, below = kNowhere;
};

void OutlineDrawer::draw_line(std::vector<ValueRun>& above, std::vector<ValueRun>& here,
                              std::int64_t y) {
  ValueRun outside;
  ValueRun *above_left = &outside, *below_left = &outside;
  HorizontalEdges edges;
  const auto row = static_cast<std::int32_t>(y);
  const std::int32_t width = above.back().x1;
  std::int32_t x = 0;
  for (std::size_t i = 0, j = 0; x < width;) {
    draw_corner({static_cast<std::uint32_t>(x), 0, row},
                {*above_left, above[i], *below_left, here[j]}, edges);
    above_left = &above[i];
    below_left = &here[j];
    x = std::min(above_left->x1, below_left->x1);
    i += above_left->x1 == x ? 1 : 0;
    j += below_left->x1 == x ? 1 : 0;
  }
  draw_corner({static_cast<std::uint32_t>(x), 0, row}, {*above_left, outside, *below_left, outside},
              edges);
}

/// The outlines through one corner. Those turn here of every pixel that differs from both its
/// neighbours, and of three equal pixels; those of two equal neighbours go straight on.
void OutlineDrawer::draw_corner(const LinkedCorner& corner, const Around& p,
                                HorizontalEdges& edges) {
  const bool top = p.above_left.value == p.above_right.value;
  const bool bottom = p.below_left.value == p.below_right.value;
  const bool left = p.above_left.value == p.below_left.value;
  const bool right = p.above_right.value == p.below_right.value;
  const auto at = [&](bool pinch) {
    LinkedCorner own = corner;
    own.pinch = pinch ? 1 : 0;
    return own;
  };
  const bool falling = p.above_left.value == p.below_right.value;
  const bool rising = p.above_right.value == p.below_left.value;
  // Pieces that come from the left end before those to the right begin.
  if (!top && !left && p.above_left.traced())
    pieces_.join(p.above_left.right, at(falling), edges.above);
  if (!top && !right && p.above_right.traced())
    edges.above = pieces_.prepend(at(rising), p.above_right.left);
  if (!bottom && !left && p.below_left.traced())
    p.below_left.right = pieces_.append(edges.below, at(rising));
  if (!bottom && !right && p.below_right.traced())
    p.below_right.left = edges.below = pieces_.begin(at(falling), origins(p.below_right));
  if (top != bottom) {
    draw_inner_corner(at(false), p, edges);
  } else if (!top) {  // sides that go straight on
    if (left) p.below_left.right = p.above_left.right;
    if (right) p.below_right.left = p.above_right.left;
  }
}

/// The corner of three equal pixels, if there are three.
void OutlineDrawer::draw_inner_corner(const LinkedCorner& corner, const Around& p,
                                      HorizontalEdges& edges) {
  const bool left = p.above_left.value == p.below_left.value;
  const bool right = p.above_right.value == p.below_right.value;
  const bool top = p.above_left.value == p.above_right.value;
  if (left && top && p.above_left.traced())
    p.below_left.right = edges.above = pieces_.begin(corner, origins(p.below_left));
  if (right && top && p.above_right.traced())
    p.below_right.left = edges.above = pieces_.prepend(corner, edges.above);
  if (left && !top && p.below_left.traced())
    edges.below = pieces_.append(p.above_left.right, corner);
  if (right && !top && p.below_right.traced())
    pieces_.join(edges.below, corner, p.above_right.left);
}

}  // namespace headrace::pixels
