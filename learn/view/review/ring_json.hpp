#pragma once
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::view {

/// Rings as the page sends them and as they are stored: [[[y, x], …], …].
Json json_of_rings(const std::vector<pixels::Ring>& rings);
/// Errors: usage (a ring of fewer than three positions, a position that is none).
std::vector<pixels::Ring> rings_of_json(const Json& json);

}  // namespace headrace::view
