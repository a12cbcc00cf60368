#pragma once
#include <cstdint>

#include "headrace/core/geometry.hpp"

namespace headrace::view {

/// The tiles of a slide as DeepZoom numbers them: level last() has the pixels of level 0, and each
/// one before has half as many along both axes, rounded up, down to one pixel. Tiles are squares of
/// kTile pixels without overlap, cut at the edges. source: Microsoft, "Deep Zoom File Format
/// Overview"; OpenSeadragon's and openslide-python's numbering.
struct DeepZoom {
  static constexpr std::int64_t kTile = 256;
  std::int64_t height = 0, width = 0;  ///< of level 0, above 0

  int last() const {
    int level = 0;
    for (std::int64_t side = height > width ? height : width; side > 1; side = (side + 1) / 2)
      ++level;
    return level;
  }
  int levels() const { return last() + 1; }
  /// Pixels of level 0 along the edge of one of `level`.
  std::int64_t scale(int level) const { return std::int64_t{1} << (last() - level); }
  std::int64_t height_of(int level) const { return (height + scale(level) - 1) / scale(level); }
  std::int64_t width_of(int level) const { return (width + scale(level) - 1) / scale(level); }

  bool has(int level, std::int64_t tile_y, std::int64_t tile_x) const {
    return level >= 0 && level <= last() && tile_y >= 0 && tile_x >= 0 &&
           tile_y <= (height_of(level) - 1) / kTile && tile_x <= (width_of(level) - 1) / kTile;
  }
  /// In pixels of the level. The tile must be there.
  Box2 box(int level, std::int64_t tile_y, std::int64_t tile_x) const {
    const std::int64_t y0 = tile_y * kTile, x0 = tile_x * kTile;
    const auto cut = [](std::int64_t begin, std::int64_t end) {
      return end - begin < kTile ? end - begin : kTile;
    };
    return {y0, x0, cut(y0, height_of(level)), cut(x0, width_of(level))};
  }
};

}  // namespace headrace::view
