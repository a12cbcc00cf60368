#include "learn/view/slide/zoom_tiles.hpp"

#include <algorithm>
#include <utility>

#include "learn/view/slide/resample.hpp"

namespace headrace::view {
namespace {

/// Along each axis; a tile then reads up to 1,280² pixels.
constexpr double kMostPixelsUnderOne = 5;
/// Downsamples that files state are rounded.
constexpr double kSameScale = 1.01;

}  // namespace

ZoomTiles::ZoomTiles(std::shared_ptr<const SlidePicture> picture, DeepZoom zoom, Values values,
                     std::uint64_t number, TileCache& coarse)
    : picture_(std::move(picture)),
      zoom_(zoom),
      values_(values),
      number_(number),
      coarse_(coarse) {}

std::size_t ZoomTiles::best_level(double scale) const {
  const auto& levels = picture_->levels();
  std::size_t best = 0;
  for (std::size_t k = 1; k < levels.size(); ++k) {
    const auto [y, x] = levels[k].downsample_yx;
    if (std::max(y, x) <= scale * kSameScale) best = k;
  }
  return best;
}

pixels::Image8 ZoomTiles::tile(int level, std::int64_t tile_y, std::int64_t tile_x) const {
  const auto scale = static_cast<double>(zoom_.scale(level));
  const std::size_t best = best_level(scale);
  const auto [down_y, down_x] = picture_->levels()[best].downsample_yx;
  const bool far = scale / std::min(down_y, down_x) > kMostPixelsUnderOne;
  if (values_ == Values::colours && far && level < zoom_.last())
    return from_tiles_below(level, tile_y, tile_x);
  const Box2 box = zoom_.box(level, tile_y, tile_x);
  TilePlace place;
  place.step_yx = {scale / down_y, scale / down_x};
  place.first_yx = {static_cast<double>(box.y0) * place.step_yx[0],
                    static_cast<double>(box.x0) * place.step_yx[1]};
  place.height = box.height;
  place.width = box.width;
  return values_ == Values::colours ? mean_tile(*picture_, best, place)
                                    : nearest_tile(*picture_, best, place);
}

pixels::Image8 ZoomTiles::from_tiles_below(int level, std::int64_t tile_y,
                                           std::int64_t tile_x) const {
  const int below = level + 1;
  const Box2 box = zoom_.box(level, tile_y, tile_x);
  pixels::Image8 four(std::min(2 * box.height, zoom_.height_of(below) - 2 * box.y0),
                      std::min(2 * box.width, zoom_.width_of(below) - 2 * box.x0),
                      picture_->channels());
  for (std::int64_t y = 2 * tile_y; y <= 2 * tile_y + 1; ++y) {
    for (std::int64_t x = 2 * tile_x; x <= 2 * tile_x + 1; ++x) {
      if (!zoom_.has(below, y, x)) continue;
      const auto part = kept_tile(below, y, x);
      const std::int64_t top = (y - 2 * tile_y) * DeepZoom::kTile;
      const std::int64_t left = (x - 2 * tile_x) * DeepZoom::kTile * part->channels;
      for (std::int64_t row = 0; row < part->height; ++row)
        std::copy_n(part->row(row), part->width * part->channels, four.row(top + row) + left);
    }
  }
  return halved(four);
}

TileCache::Pointer ZoomTiles::kept_tile(int level, std::int64_t tile_y, std::int64_t tile_x) const {
  return coarse_.get({number_, level, tile_y, tile_x}, [&]() -> TileCache::Made {
    auto made = std::make_shared<const pixels::Image8>(tile(level, tile_y, tile_x));
    const std::uint64_t bytes = made->pixels.size();
    return {std::move(made), bytes};
  });
}

}  // namespace headrace::view
