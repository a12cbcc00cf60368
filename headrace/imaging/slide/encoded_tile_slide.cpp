#include "headrace/imaging/slide/encoded_tile_slide.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/imaging/block_cache.hpp"
#include "headrace/imaging/slide/place_on_level.hpp"
#include "headrace/imaging/slide/tile_parts.hpp"
#include "headrace/imaging/slide/transparent_outside.hpp"
#include "headrace/imaging/slide/white_outside.hpp"
#include "headrace/imaging/tiff/encoded_tiles.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kCacheBytes = std::uint64_t{32} << 20;

class EncodedTileSlide : public SlideReader {
 public:
  EncodedTileSlide(std::unique_ptr<SlideReader> slide, std::unique_ptr<EncodedTiles> tiles,
                   std::string path)
      : slide_(std::move(slide)),
        tiles_(std::move(tiles)),
        codec_(tiles_->codec()),
        path_(std::move(path)),
        info_(slide_->info()) {
    for (SlideLevel& level : info_.levels) {
      const auto& found = tiles_->levels();
      const auto same = std::find_if(found.begin(), found.end(), [&](const EncodedTileLevel& l) {
        return l.height == level.height && l.width == level.width;
      });
      tile_level_.push_back(same == found.end() ? -1 : static_cast<int>(same - found.begin()));
      if (same == found.end()) continue;
      level.block_height = same->tile_height;
      level.block_width = same->tile_width;
    }
  }

  const SlideInfo& info() const override { return info_; }
  const EncodedTiles* encoded_tiles() const override { return tiles_.get(); }

  void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
            std::uint8_t* dst, std::int64_t stride) const override {
    const int from = tile_level(level);
    if (from < 0) return slide_->read(level, y0, x0, height, width, dst, stride);
    const EncodedTileLevel& size = size_of(from);
    read_on_white(
        size.height, size.width, y0, x0, height, width, dst, stride,
        [&](std::int64_t y, std::int64_t x, std::int64_t h, std::int64_t w, std::uint8_t* to) {
          const auto parts = parts_of(size, from, {y, x, h, w}, to, 3, stride);
          if (tiles_->by_requests()) return read_together(parts, stride);
          for (const TilePart& part : parts) read_part(part, stride);
        });
  }

  void read_rgba(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                 std::int64_t width, std::uint8_t* dst) const override {
    // Programs that OpenSlide is replaced in get its very values, which builds of OpenJPEG round
    // otherwise.
    const int from = codec_ == TileCodec::jpeg ? tile_level(level) : -1;
    std::optional<std::int64_t> y, x;
    if (from >= 0) {
      const double downsample = info_.levels[static_cast<std::size_t>(level)].downsample;
      y = stored_pixels_from(y0, height, downsample);
      x = stored_pixels_from(x0, width, downsample);
    }
    if (!y || !x) return slide_->read_rgba(level, y0, x0, height, width, dst);
    const EncodedTileLevel& size = size_of(from);
    read_on_transparent(size.height, size.width, *y, *x, height, width, dst,
                        [&](const Box2& box, std::uint8_t* to) {
                          for (const TilePart& part : parts_of(size, from, box, to, 4, width * 4))
                            read_rgba_part(part, width * 4);
                        });
  }

  void read_patches(std::span<const SlidePatch> patches, std::int64_t height, std::int64_t width,
                    ThreadPool& pool) const override {
    std::vector<SlidePatch> others;
    std::vector<TilePart> parts;
    for (const SlidePatch& patch : patches) {
      const int from = tile_level(patch.level);
      if (from < 0) {
        others.push_back(patch);
        continue;
      }
      const EncodedTileLevel& size = size_of(from);
      read_on_white(
          size.height, size.width, patch.y0, patch.x0, height, width, patch.dst, width * 3,
          [&](std::int64_t y, std::int64_t x, std::int64_t h, std::int64_t w, std::uint8_t* to) {
            const auto more = parts_of(size, from, {y, x, h, w}, to, 3, width * 3);
            parts.insert(parts.end(), more.begin(), more.end());
          });
    }
    const auto groups = group_by_tile(parts);
    pool.parallel_for(groups.size(), [&](std::size_t i) {
      const auto [begin, end] = groups[i];
      read_group(std::span(parts).subspan(begin, end - begin), width * 3);
    });
    slide_->read_patches(others, height, width, pool);
  }

 private:
  using Pixels = std::vector<std::uint8_t>;

  /// -1: a level that the other reader reads, or none of the slide.
  int tile_level(int level) const {
    const bool known = level >= 0 && level < static_cast<int>(tile_level_.size());
    return known ? tile_level_[static_cast<std::size_t>(level)] : -1;
  }
  const EncodedTileLevel& size_of(int from) const {
    return tiles_->levels()[static_cast<std::size_t>(from)];
  }
  std::string name_of(const TilePart& part) const {
    return fmt::format("{}: level {}, tile row {}, column {}", path_, part.level, part.tile_y,
                       part.tile_x);
  }

  bool is_whole(const TilePart& part) const {
    const EncodedTileLevel& size = size_of(part.level);
    return part.box.height == size.tile_height && part.box.width == size.tile_width;
  }

  /// The tiles that are not kept by few requests, instead of one after the other.
  void read_together(const std::vector<TilePart>& parts, std::int64_t stride) const {
    std::vector<TileNumber> numbers;
    std::vector<const TilePart*> wanted;
    for (const TilePart& part : parts) {
      if (cache_.find(key_of(part))) {
        read_part(part, stride);
        continue;
      }
      numbers.push_back({part.tile_y, part.tile_x});
      wanted.push_back(&part);
    }
    if (wanted.empty()) return;
    const auto tiles = tiles_->tiles(parts[0].level, numbers);
    for (std::size_t i = 0; i < wanted.size(); ++i) place_part(*wanted[i], tiles[i], stride);
  }

  /// Copies the part of a tile that the region needs; whole tiles are decoded in place; cut ones
  /// are kept, since the neighbouring regions need them next.
  void read_part(const TilePart& part, std::int64_t stride) const {
    if (const auto kept = cache_.find(key_of(part))) return copy_part(part, *kept, stride);
    place_part(part, tiles_->tile(part.level, part.tile_y, part.tile_x), stride);
  }

  void place_part(const TilePart& part, std::span<const std::byte> tile,
                  std::int64_t stride) const {
    const EncodedTileLevel& size = size_of(part.level);
    if (tile.empty()) return fill_white(part.dst, part.box.height, part.box.width, stride);
    if (is_whole(part)) return decode_tile(codec_, tile, name_of(part), size, part.dst, stride);
    copy_part(part, *decode_and_keep(part, tile), stride);
  }

  void copy_part(const TilePart& part, const Pixels& whole, std::int64_t stride) const {
    const std::uint8_t* from = row_of(part, whole);
    for (std::int64_t y = 0; y < part.box.height; ++y) {
      std::memcpy(part.dst + y * stride, from + y * size_of(part.level).tile_width * 3,
                  static_cast<std::size_t>(part.box.width * 3));
    }
  }

  void read_rgba_part(const TilePart& part, std::int64_t stride) const {
    const EncodedTileLevel& size = size_of(part.level);
    auto kept = cache_.find(key_of(part));
    thread_local Pixels whole;
    if (!kept) {
      const auto tile = tiles_->tile(part.level, part.tile_y, part.tile_x);
      if (tile.empty()) {
        for (std::int64_t y = 0; y < part.box.height; ++y)
          std::memset(part.dst + y * stride, 0, static_cast<std::size_t>(part.box.width * 4));
        return;
      }
      if (is_whole(part)) {
        whole.resize(static_cast<std::size_t>(size.tile_height * size.tile_width * 3));
        decode_tile(codec_, tile, name_of(part), size, whole.data(), size.tile_width * 3);
      } else {
        kept = decode_and_keep(part, tile);
      }
    }
    const std::uint8_t* from = row_of(part, kept ? *kept : whole);
    for (std::int64_t y = 0; y < part.box.height; ++y)
      opaque_rgba(from + y * size.tile_width * 3, part.box.width, part.dst + y * stride);
  }

  /// Decodes what all parts of one tile need, once.
  void read_group(std::span<const TilePart> parts, std::int64_t stride) const {
    const TilePart& first = parts[0];
    const auto tile = tiles_->tile(first.level, first.tile_y, first.tile_x);
    if (tile.empty()) {
      for (const TilePart& part : parts)
        fill_white(part.dst, part.box.height, part.box.width, stride);
      return;
    }
    const Box2 box = box_around(parts);
    const EncodedTileLevel& size = size_of(first.level);
    if (parts.size() == 1)
      return decode_tile_window(codec_, tile, name_of(first), size, box, first.dst, stride);
    thread_local Pixels decoded;
    decoded.resize(static_cast<std::size_t>(box.height * box.width * 3));
    decode_tile_window(codec_, tile, name_of(first), size, box, decoded.data(), box.width * 3);
    for (const TilePart& part : parts) {
      const std::uint8_t* from =
          decoded.data() + ((part.box.y0 - box.y0) * box.width + part.box.x0 - box.x0) * 3;
      for (std::int64_t y = 0; y < part.box.height; ++y) {
        std::memcpy(part.dst + y * stride, from + y * box.width * 3,
                    static_cast<std::size_t>(part.box.width * 3));
      }
    }
  }

  std::int64_t key_of(const TilePart& part) const {
    const EncodedTileLevel& size = size_of(part.level);
    const std::int64_t across = (size.width + size.tile_width - 1) / size.tile_width;
    return (part.tile_y * across + part.tile_x) * 64 + part.level;
  }

  const std::uint8_t* row_of(const TilePart& part, const Pixels& tile) const {
    return tile.data() + (part.box.y0 * size_of(part.level).tile_width + part.box.x0) * 3;
  }

  std::shared_ptr<const Pixels> decode_and_keep(const TilePart& part,
                                                std::span<const std::byte> tile) const {
    const EncodedTileLevel& size = size_of(part.level);
    auto decoded =
        std::make_shared<Pixels>(static_cast<std::size_t>(size.tile_height * size.tile_width * 3));
    decode_tile(codec_, tile, name_of(part), size, decoded->data(), size.tile_width * 3);
    cache_.put(key_of(part), decoded, decoded->size());
    return decoded;
  }

  std::unique_ptr<SlideReader> slide_;
  std::unique_ptr<EncodedTiles> tiles_;
  TileCodec codec_;
  std::string path_;
  SlideInfo info_;
  std::vector<int> tile_level_;
  mutable BlockCache<Pixels> cache_{kCacheBytes};
};

/// Values of JPEG 2000 tiles that may be rounded otherwise, by one: a few in ten million are.
constexpr std::size_t kExpectedRounded = 1000;  // at most one in so many

/// Whether rows have the same bytes, but for such roundings, which `rounded` counts.
bool same_row(const std::uint8_t* a, const std::uint8_t* b, std::size_t bytes, TileCodec codec,
              std::size_t& rounded) {
  if (std::memcmp(a, b, bytes) == 0) return true;
  if (codec == TileCodec::jpeg) return false;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (std::abs(a[i] - b[i]) > 1) return false;
    rounded += a[i] != b[i];
  }
  return true;
}

/// Compares tiles of level 0 with the slide's pixels.
bool agrees(const EncodedTiles& tiles, const std::vector<std::int64_t>& indices,
            const SlideReader& slide) {
  const EncodedTileLevel& size = tiles.levels()[0];
  if (slide.info().levels[0].height != size.height || slide.info().levels[0].width != size.width)
    return false;
  const std::int64_t across = (size.width + size.tile_width - 1) / size.tile_width;
  std::vector<std::uint8_t> decoded(
      static_cast<std::size_t>(size.tile_height * size.tile_width * 3)),
      read(decoded.size());
  const std::int64_t stride = size.tile_width * 3;
  for (const std::int64_t index : indices) {
    const std::int64_t ty = index / across, tx = index % across;
    const auto tile = tiles.tile(0, ty, tx);
    if (tile.empty()) continue;
    decode_tile(tiles.codec(), tile, "tile", size, decoded.data(), stride);
    const std::int64_t rows = std::min(size.tile_height, size.height - ty * size.tile_height);
    const std::int64_t bytes = std::min(size.tile_width, size.width - tx * size.tile_width) * 3;
    slide.read(0, ty * size.tile_height, tx * size.tile_width, rows, bytes / 3, read.data(),
               stride);
    std::size_t rounded = 0;
    for (std::int64_t y = 0; y < rows; ++y) {
      if (!same_row(decoded.data() + y * stride, read.data() + y * stride,
                    static_cast<std::size_t>(bytes), tiles.codec(), rounded))
        return false;
    }
    if (rounded > static_cast<std::size_t>(rows * bytes) / kExpectedRounded) return false;
  }
  return true;
}

/// The first, the middle and the largest tile.
std::vector<std::int64_t> tiles_to_compare(const TiffDirectory& level0) {
  const auto& bytes = level0.tile_bytes;
  const auto largest = std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
  return {0, level0.tiles_across() * level0.tiles_down() / 2, largest};
}

}  // namespace

std::unique_ptr<SlideReader> with_encoded_tiles(std::unique_ptr<SlideReader> slide,
                                                std::shared_ptr<const storage::Object> file,
                                                std::vector<TiffDirectory> levels) {
  if (levels.empty() || !levels[0].tiled()) return slide;
  const auto indices = tiles_to_compare(levels[0]);
  std::string name = file->describe();
  auto tiles = EncodedTiles::of(std::move(file), std::move(levels));
  try {
    if (!tiles || !agrees(*tiles, indices, *slide)) return slide;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return slide;  // it reports what is wrong with a tile when it is read
  }
  return std::make_unique<EncodedTileSlide>(std::move(slide), std::move(tiles), std::move(name));
}

}  // namespace headrace::imaging
