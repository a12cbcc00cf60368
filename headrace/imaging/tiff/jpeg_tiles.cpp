#include "headrace/imaging/tiff/jpeg_tiles.hpp"

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/tiff/jpeg_splice.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint16_t kJpeg = 7, kRgb = 2, kYCbCr = 6;
constexpr std::int64_t kMaxTileSide = 8192;

bool qualifies(const TiffDirectory& d) {
  if (!d.tiled() || d.tile_width < 1 || d.height < 1 || d.width < 1) return false;
  if (d.tile_height > kMaxTileSide || d.tile_width > kMaxTileSide) return false;
  const auto tiles =
      static_cast<std::uint64_t>(d.tiles_across()) * static_cast<std::uint64_t>(d.tiles_down());
  return d.compression == kJpeg && (d.photometric == kRgb || d.photometric == kYCbCr) &&
         d.samples == 3 && d.bits == 8 && d.planar == 1 && d.image_depth == 1 &&
         d.tile_offsets.size() == tiles && d.tile_bytes.size() == tiles;
}

class TiffJpegTiles : public JpegTiles {
 public:
  TiffJpegTiles(std::shared_ptr<const storage::Object> file, std::vector<TiffDirectory> directories)
      : file_(std::move(file)), directories_(std::move(directories)) {
    for (auto& d : directories_) {
      levels_.push_back({d.height, d.width, d.tile_height, d.tile_width});
      d.description.clear();
    }
  }

  const std::vector<JpegTileLevel>& levels() const override { return levels_; }

  std::vector<std::byte> tile(int level, std::int64_t tile_y, std::int64_t tile_x) const override {
    if (level < 0 || level >= static_cast<int>(levels_.size())) {
      fail(ErrorCode::usage, "{}: has {} levels of JPEG tiles, level {} was asked for",
           file_->describe(), levels_.size(), level);
    }
    const TiffDirectory& d = directories_[static_cast<std::size_t>(level)];
    if (tile_y < 0 || tile_x < 0 || tile_y >= d.tiles_down() || tile_x >= d.tiles_across()) {
      fail(ErrorCode::usage, "{}: level {} has {}x{} tiles, tile row {}, column {} was asked for",
           file_->describe(), level, d.tiles_across(), d.tiles_down(), tile_y, tile_x);
    }
    const auto index = static_cast<std::size_t>(tile_y * d.tiles_across() + tile_x);
    if (d.is_missing(index)) return {};
    return with_context(
        fmt::format("level {}, tile row {}, column {}", level, tile_y, tile_x), [&] {
          if (d.tile_offsets[index] > file_->size_bytes() ||
              d.tile_bytes[index] > file_->size_bytes() - d.tile_offsets[index]) {
            fail(ErrorCode::corrupt,
                 "{}: the tile lies at bytes {} to {}, but the file ends at {}; it is truncated or "
                 "damaged",
                 file_->describe(), d.tile_offsets[index],
                 d.tile_offsets[index] + d.tile_bytes[index], file_->size_bytes());
          }
          std::vector<std::byte> raw(d.tile_bytes[index]);
          file_->read(d.tile_offsets[index], raw);
          auto jpeg = splice_jpeg_tile(d.jpeg_tables, raw, d.photometric == kRgb, d.tile_height,
                                       d.tile_width);
          if (!jpeg) {
            fail(ErrorCode::corrupt, "{}: the tile at byte {} is not a colour JPEG of {}x{} pixels",
                 file_->describe(), d.tile_offsets[index], d.tile_width, d.tile_height);
          }
          return std::move(*jpeg);
        });
  }

 private:
  std::shared_ptr<const storage::Object> file_;
  std::vector<TiffDirectory> directories_;
  std::vector<JpegTileLevel> levels_;
};

}  // namespace

std::unique_ptr<JpegTiles> JpegTiles::of(std::shared_ptr<const storage::Object> file,
                                         std::vector<TiffDirectory> levels) {
  if (levels.empty() || !qualifies(levels[0])) return nullptr;
  std::erase_if(levels, [](const TiffDirectory& level) { return !qualifies(level); });
  return std::make_unique<TiffJpegTiles>(std::move(file), std::move(levels));
}

}  // namespace headrace::imaging
