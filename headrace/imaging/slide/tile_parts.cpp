#include "headrace/imaging/slide/tile_parts.hpp"

#include <algorithm>
#include <tuple>

namespace headrace::imaging {
namespace {

auto tile_of(const TilePart& part) { return std::tuple(part.level, part.tile_y, part.tile_x); }

}  // namespace

std::vector<TilePart> parts_of(const EncodedTileLevel& tiles, int level, const Box2& box,
                               std::uint8_t* dst, std::int64_t pixel_bytes, std::int64_t stride) {
  std::vector<TilePart> parts;
  const std::int64_t bottom = box.y0 + box.height, right = box.x0 + box.width;
  for (std::int64_t ty = box.y0 / tiles.tile_height; ty * tiles.tile_height < bottom; ++ty) {
    const std::int64_t top = ty * tiles.tile_height, y = std::max(box.y0, top);
    for (std::int64_t tx = box.x0 / tiles.tile_width; tx * tiles.tile_width < right; ++tx) {
      const std::int64_t left = tx * tiles.tile_width, x = std::max(box.x0, left);
      const Box2 part{y - top, x - left, std::min(bottom, top + tiles.tile_height) - y,
                      std::min(right, left + tiles.tile_width) - x};
      parts.push_back(
          {level, ty, tx, part, dst + (y - box.y0) * stride + (x - box.x0) * pixel_bytes});
    }
  }
  return parts;
}

std::vector<TileGroup> group_by_tile(std::vector<TilePart>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const TilePart& a, const TilePart& b) { return tile_of(a) < tile_of(b); });
  std::vector<TileGroup> groups;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || tile_of(parts[i]) != tile_of(parts[i - 1])) groups.push_back({i, i});
    groups.back().end = i + 1;
  }
  return groups;
}

Box2 box_around(std::span<const TilePart> parts) {
  std::int64_t top = parts[0].box.y0, left = parts[0].box.x0, bottom = top, right = left;
  for (const TilePart& part : parts) {
    top = std::min(top, part.box.y0);
    left = std::min(left, part.box.x0);
    bottom = std::max(bottom, part.box.y0 + part.box.height);
    right = std::max(right, part.box.x0 + part.box.width);
  }
  return {top, left, bottom - top, right - left};
}

}  // namespace headrace::imaging
