#pragma once
#include <array>
#include <cstddef>

#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::imaging {

using RingPoint = std::array<double, 2>;

/// The least upright rectangle around a ring.
struct RingBox {
  RingPoint low{1e300, 1e300}, high{-1e300, -1e300};

  explicit RingBox(const pixels::Ring& ring) { add(ring); }
  void add(const pixels::Ring& ring);
  bool meets(const RingBox& other) const;
};

double area_of(const pixels::Ring& ring);
/// Whether a point lies within a twentieth of a voxel of the ring.
bool on_outline(const RingPoint& point, const pixels::Ring& ring);
/// Whether no point of a ring is clearly outside of the other: it may be a hole.
bool points_within(const pixels::Ring& ring, const pixels::Ring& other);

/// How many pixels have their centre in two rings.
struct SharedPixels {
  std::size_t a = 0, b = 0, both = 0;

  /// The part that both have of what either has.
  double of_both() const;
};
/// Within a rectangle.
SharedPixels shared_pixels(const pixels::Ring& a, const pixels::Ring& b, const RingBox& where);

}  // namespace headrace::imaging
