#pragma once
#include <vector>

#include "headrace/pixels/regions/region_tracer.hpp"

namespace headrace::handover {

using Rings = std::vector<std::vector<pixels::Corner>>;

/// The rings of one region with fewer corners: always the corner next whose removal moves the
/// outline least, as long as no place of the outline moves by more than `tolerance_px`. Corners are
/// left out, none is moved, and each ring keeps at least 4.
///
/// A corner stays if the triangle of it and its two neighbours holds another corner of any ring.
/// So no ring ever crosses or touches more than before, and holes stay inside: rings of a valid
/// polygon (OGC) give one.
///
/// in      rings   as RegionTracer gives them; changed in place
/// speed   for n corners, n · log n in practice; one corner in 64 is always kept for that
void simplify_rings(Rings& rings, double tolerance_px);

}  // namespace headrace::handover
