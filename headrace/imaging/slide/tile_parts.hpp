#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/imaging/tiff/encoded_tiles.hpp"

namespace headrace::imaging {

/// The part of a tile that a region needs.
struct TilePart {
  int level = 0;  ///< of EncodedTiles
  std::int64_t tile_y = 0, tile_x = 0;
  Box2 box;                     ///< in pixels of the tile
  std::uint8_t* dst = nullptr;  ///< RGB of the box's first pixel
};

/// The parts of the tiles under `box`, which lies inside its level, in row-major order. dst: the
/// box's first pixel, pixels of `pixel_bytes` bytes in rows `stride` bytes apart.
std::vector<TilePart> parts_of(const EncodedTileLevel& tiles, int level, const Box2& box,
                               std::uint8_t* dst, std::int64_t pixel_bytes, std::int64_t stride);

/// Parts of the same tile side by side, in an order that follows from the parts alone; each group
/// is [begin, end).
struct TileGroup {
  std::size_t begin = 0, end = 0;
};
std::vector<TileGroup> group_by_tile(std::vector<TilePart>& parts);

/// The smallest box around those of the parts.
Box2 box_around(std::span<const TilePart> parts);

}  // namespace headrace::imaging
