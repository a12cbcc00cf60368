#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace headrace::ingest {

/// One tile of a level's grid.
struct TileIndex {
  std::int64_t y = 0, x = 0;
  bool operator==(const TileIndex&) const = default;
};

/// Key of a tile on the Z-order (Morton) curve.
inline std::uint64_t morton(TileIndex tile) {
  std::uint64_t key = 0;
  for (int bit = 0; bit < 32; ++bit) {
    key |= (static_cast<std::uint64_t>(tile.x) >> bit & 1) << (2 * bit);
    key |= (static_cast<std::uint64_t>(tile.y) >> bit & 1) << (2 * bit + 1);
  }
  return key;
}

/// Tiles of a grid along the Z-order curve: the four tiles under one tile of the next level follow
/// each other, so that only a few tiles of each level are unfinished at any time.
inline std::vector<TileIndex> tiles_in_z_order(std::int64_t count_y, std::int64_t count_x) {
  std::vector<TileIndex> tiles;
  for (std::int64_t y = 0; y < count_y; ++y) {
    for (std::int64_t x = 0; x < count_x; ++x) tiles.push_back({y, x});
  }
  std::sort(tiles.begin(), tiles.end(),
            [](TileIndex a, TileIndex b) { return morton(a) < morton(b); });
  return tiles;
}

}  // namespace headrace::ingest
