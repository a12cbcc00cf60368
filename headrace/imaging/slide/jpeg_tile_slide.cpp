#include "headrace/imaging/slide/jpeg_tile_slide.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/core/geometry.hpp"
#include "headrace/imaging/block_cache.hpp"
#include "headrace/imaging/slide/white_outside.hpp"
#include "headrace/imaging/tiff/jpeg_tiles.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kCacheBytes = std::uint64_t{32} << 20;

class JpegTileSlide : public SlideReader {
 public:
  JpegTileSlide(std::unique_ptr<SlideReader> slide, std::unique_ptr<JpegTiles> tiles,
                std::string path)
      : slide_(std::move(slide)),
        tiles_(std::move(tiles)),
        path_(std::move(path)),
        info_(slide_->info()) {
    for (SlideLevel& level : info_.levels) {
      const auto& found = tiles_->levels();
      const auto same = std::find_if(found.begin(), found.end(), [&](const JpegTileLevel& l) {
        return l.height == level.height && l.width == level.width;
      });
      tile_level_.push_back(same == found.end() ? -1 : static_cast<int>(same - found.begin()));
      if (same == found.end()) continue;
      level.block_height = same->tile_height;
      level.block_width = same->tile_width;
    }
  }

  const SlideInfo& info() const override { return info_; }

  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    const bool known = level >= 0 && level < static_cast<int>(tile_level_.size());
    const int from = known ? tile_level_[static_cast<std::size_t>(level)] : -1;
    if (from < 0) return slide_->read(level, y0, x0, height, width, dst, stride);
    const JpegTileLevel& size = tiles_->levels()[static_cast<std::size_t>(from)];
    read_on_white(
        size.height, size.width, y0, x0, height, width, dst, stride,
        [&](std::int64_t y, std::int64_t x, std::int64_t h, std::int64_t w, std::uint8_t* to) {
          read_tiles(from, {y, x, h, w}, to, stride);
        });
  }

 private:
  using Pixels = std::vector<std::uint8_t>;

  void read_tiles(int from, const Box2& box, std::uint8_t* dst, std::int64_t stride) const {
    const JpegTileLevel& size = tiles_->levels()[static_cast<std::size_t>(from)];
    const std::int64_t bottom = box.y0 + box.height, right = box.x0 + box.width;
    for (std::int64_t ty = box.y0 / size.tile_height; ty * size.tile_height < bottom; ++ty) {
      for (std::int64_t tx = box.x0 / size.tile_width; tx * size.tile_width < right; ++tx) {
        const std::int64_t y = std::max(box.y0, ty * size.tile_height),
                           x = std::max(box.x0, tx * size.tile_width);
        const Box2 part{y, x, std::min(bottom, (ty + 1) * size.tile_height) - y,
                        std::min(right, (tx + 1) * size.tile_width) - x};
        read_part(from, ty, tx, part, dst + (y - box.y0) * stride + (x - box.x0) * 3, stride);
      }
    }
  }

  /// Copies the part of a tile that the region needs; whole tiles are decoded in place; cut ones
  /// are kept, since the neighbouring regions need them next.
  void read_part(int level, std::int64_t ty, std::int64_t tx, const Box2& part, std::uint8_t* dst,
                 std::int64_t stride) const {
    const JpegTileLevel& size = tiles_->levels()[static_cast<std::size_t>(level)];
    const std::int64_t across = (size.width + size.tile_width - 1) / size.tile_width;
    const std::int64_t key = (ty * across + tx) * 64 + level;
    const bool whole = part.height == size.tile_height && part.width == size.tile_width;
    auto kept = cache_.find(key);
    if (!kept) {
      const auto jpeg = tiles_->tile(level, ty, tx);
      if (jpeg.empty()) return fill_white(dst, part.height, part.width, stride);
      const std::string origin =
          fmt::format("{}: level {}, tile row {}, column {}", path_, level, ty, tx);
      if (whole)
        return pixels::decode_jpeg_rgb(jpeg, origin, size.tile_height, size.tile_width, dst,
                                       stride);
      auto decoded = std::make_shared<Pixels>(
          static_cast<std::size_t>(size.tile_height * size.tile_width * 3));
      pixels::decode_jpeg_rgb(jpeg, origin, size.tile_height, size.tile_width, decoded->data(),
                              size.tile_width * 3);
      kept = std::move(decoded);
      cache_.put(key, kept, kept->size());
    }
    const std::uint8_t* from = kept->data() + ((part.y0 - ty * size.tile_height) * size.tile_width +
                                               (part.x0 - tx * size.tile_width)) *
                                                  3;
    for (std::int64_t y = 0; y < part.height; ++y) {
      std::memcpy(dst + y * stride, from + y * size.tile_width * 3,
                  static_cast<std::size_t>(part.width * 3));
    }
  }

  std::unique_ptr<SlideReader> slide_;
  std::unique_ptr<JpegTiles> tiles_;
  std::string path_;
  SlideInfo info_;
  std::vector<int> tile_level_;
  mutable BlockCache<Pixels> cache_{kCacheBytes};
};

}  // namespace

std::unique_ptr<SlideReader> with_jpeg_tiles(std::unique_ptr<SlideReader> slide,
                                             const std::string& path) {
  std::unique_ptr<JpegTiles> tiles;
  try {
    tiles = JpegTiles::open(path);
  } catch (const Error&) {
    // A directory that the slide reader accepts but JpegTiles does not: OpenSlide reads the pixels.
  }
  if (!tiles) return slide;
  return std::make_unique<JpegTileSlide>(std::move(slide), std::move(tiles), path);
}

}  // namespace headrace::imaging
