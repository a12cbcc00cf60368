#pragma once
#include <cstdint>
#include <vector>

#include "headrace/pixels/regions/region_tracer.hpp"

namespace headrace::predict {

/// The corners of the convex hull, without points between two corners; exact.
///
/// in      points  any number, in any order, coordinates from 0 to 2^30
/// source  Andrew, Another efficient algorithm for convex hulls in two dimensions, Inf Process Lett
///         9, 1979
std::vector<pixels::Corner> convex_hull(std::vector<pixels::Corner> points);

/// The square of the greatest distance between two of the points (the maximum Feret diameter of
/// what they bound); 0 for fewer than two. Exact. Time grows with the square of their number, so
/// give a hull: one on a grid of N x N has some N^(2/3) corners.
std::uint64_t squared_diameter(const std::vector<pixels::Corner>& hull);

}  // namespace headrace::predict
