#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "headrace/pixels/image.hpp"
#include "learn/view/slide/deep_zoom.hpp"
#include "learn/view/slide/lru_cache.hpp"
#include "learn/view/slide/slide_picture.hpp"

namespace headrace::view {

/// Which tile: a number of the picture, level, row, column.
using TileKey = std::tuple<std::uint64_t, int, std::int64_t, std::int64_t>;
using TileCache = LruCache<TileKey, pixels::Image8>;

/// DeepZoom's tiles of a picture that covers a slide. Safe from any thread.
///
/// A tile comes from the coarsest level that is not coarser than it. Where even that is much finer,
/// as in a slide without a pyramid, it is the mean of the four tiles below it, which are kept: so
/// no more than a few tiles are in memory for one view, and the slide is decoded once for all its
/// coarse levels.
class ZoomTiles {
 public:
  enum class Values { colours, classes };  ///< means of them are taken, or one is chosen

  /// number: tells this picture from others in the cache, which must outlive this.
  ZoomTiles(std::shared_ptr<const SlidePicture> picture, DeepZoom zoom, Values values,
            std::uint64_t number, TileCache& coarse);

  const DeepZoom& zoom() const noexcept { return zoom_; }
  /// The tile must be one of zoom(). Errors: corrupt, io.
  pixels::Image8 tile(int level, std::int64_t tile_y, std::int64_t tile_x) const;

 private:
  std::size_t best_level(double scale) const;
  pixels::Image8 from_tiles_below(int level, std::int64_t tile_y, std::int64_t tile_x) const;
  TileCache::Pointer kept_tile(int level, std::int64_t tile_y, std::int64_t tile_x) const;

  std::shared_ptr<const SlidePicture> picture_;
  DeepZoom zoom_;
  Values values_;
  std::uint64_t number_;
  TileCache& coarse_;
};

}  // namespace headrace::view
