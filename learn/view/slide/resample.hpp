#pragma once
#include <array>
#include <cstdint>

#include "headrace/pixels/image.hpp"
#include "learn/view/slide/slide_picture.hpp"

namespace headrace::view {

/// Where the pixels of a tile lie on a level of a picture: pixel (i, j) covers rows [first_yx[0] +
/// i · step_yx[0], … + step_yx[0]) of the level, and columns alike.
struct TilePlace {
  std::array<double, 2> first_yx{}, step_yx{1, 1};
  std::int64_t height = 0, width = 0;  ///< of the tile
};

/// Each pixel is the mean of the level's pixels under it, weighted by the part that is covered;
/// what lies beyond the level's edge does not count. memory: the level's pixels under the tile
pixels::Image8 mean_tile(const SlidePicture& picture, std::size_t level, const TilePlace& place);

/// Each pixel is the level's pixel under its centre; beyond the level's edge 0. For values that
/// have no mean.
pixels::Image8 nearest_tile(const SlidePicture& picture, std::size_t level, const TilePlace& place);

/// The mean of each 2×2 pixels, of those that are there at the edges.
pixels::Image8 halved(const pixels::Image8& image);

}  // namespace headrace::view
