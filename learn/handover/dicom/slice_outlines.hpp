#pragma once
#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/pixels/regions/region_tracer.hpp"

namespace headrace::handover {

/// The outline of one connected part (4 neighbours) of a class on a slice.
struct SliceOutline {
  std::uint8_t value = 0;
  std::vector<pixels::Corner> corners;  ///< closed without the repeated first corner
};

/// Outlines along the pixels' edges of all parts of the traced values. Holes are joined with their
/// outline (joined_rings). slice: (y, x). The order depends on the slice alone.
std::vector<SliceOutline> slice_outlines(std::span<const std::uint8_t> slice, std::int64_t width,
                                         const std::bitset<256>& traced);

/// One closed outline of a region with holes, by keyholes, as CLOSED_PLANAR wants it (PS3.3,
/// C.8.8.6.3): from the upper left corner of each hole a straight cut along a pixels' edge goes
/// left to the outline or to another hole, and the outline runs along it both ways. The inside is
/// the same by the even-odd rule and by the non-zero winding rule.
///
/// rings: as TracedRegion has them, the outer one first. time: holes × corners
std::vector<pixels::Corner> joined_rings(std::vector<std::vector<pixels::Corner>> rings);

}  // namespace headrace::handover
