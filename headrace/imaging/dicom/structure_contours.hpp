#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::imaging {

/// Contours of a structure as (x, y) voxel indices, by their slice.
using SliceContours = std::map<std::int64_t, std::vector<pixels::Ring>>;

/// Whether a ring has three points or more and an area.
bool encloses_area(const pixels::Ring& ring);

/// Removes the rings that draw an outline once more, which the even-odd rule would take as a hole
/// that fills all of it: those that run along an earlier one within a twentieth of a voxel, with
/// whatever points, and those that cross it and share four fifths of its area. A ring within
/// another stays, however near: it is the inner side of a wall. Returns how many were removed.
std::size_t drop_doubled(std::vector<pixels::Ring>& rings);

/// Slices between contours that have none.
struct ContourGaps {
  std::size_t missing = 0;  ///< still without, between contours that lie over each other
  std::size_t filled = 0;
};

/// Looks for slices that were left out when the contours were drawn: on every second slice, or a
/// few between contours that lie over each other. Where each contour is stated to stand for a slab
/// as thick as they are apart, they are filled by the contour whose slab they lie in.
/// real: whether somebody could draw on a slice. thickness: in slices; nothing: it is not stated
ContourGaps fill_gaps(SliceContours& contours, std::optional<double> thickness,
                      const std::vector<bool>& real);

}  // namespace headrace::imaging
