#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace headrace::imaging {

/// One closed outline, vertices as (x, y) voxel indices (0 is the centre of the first voxel).
using Outline = std::vector<std::array<double, 2>>;

/// Sets value in every voxel of a slice whose centre lies inside the outlines by the even-odd rule
/// over all of them, so that an outline within another is a hole. A centre on an edge belongs to
/// the side of larger x or y.
void fill_outlines(const std::vector<Outline>& outlines, std::int64_t height, std::int64_t width,
                   std::uint16_t value, std::uint16_t* slice);

}  // namespace headrace::imaging
