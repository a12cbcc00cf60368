#include "headrace/imaging/tiff/encoded_tiles.hpp"

#include <optional>
#include <type_traits>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/pixels/jpeg/jpeg_splice.hpp"
#include "headrace/pixels/jpeg2000/jpeg2000_decoder.hpp"
#include "headrace/pixels/jpeg2000/jpeg2000_stream.hpp"
#include "headrace/storage/read_runs.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint16_t kJpeg = 7, kRgb = 2, kYCbCr = 6;
constexpr std::int64_t kMaxTileSide = 8192;

std::optional<TileCodec> codec_of(const TiffDirectory& d) {
  if (!d.tiled() || d.tile_width < 1 || d.height < 1 || d.width < 1) return std::nullopt;
  if (d.tile_height > kMaxTileSide || d.tile_width > kMaxTileSide) return std::nullopt;
  const auto tiles =
      static_cast<std::uint64_t>(d.tiles_across()) * static_cast<std::uint64_t>(d.tiles_down());
  const bool colours = (d.photometric == kRgb || d.photometric == kYCbCr) && d.samples == 3 &&
                       d.bits == 8 && d.planar == 1 && d.image_depth == 1 &&
                       d.tile_offsets.size() == tiles && d.tile_bytes.size() == tiles;
  if (!colours) return std::nullopt;
  if (d.compression == kJpeg) return TileCodec::jpeg;
  return is_jpeg2000(d.compression) ? std::optional(TileCodec::jpeg2k) : std::nullopt;
}

/// Nothing where it is no picture of a tile.
std::optional<std::vector<std::byte>> splice_jpeg_tile(const TiffDirectory& d,
                                                       std::span<const std::byte> raw) {
  pixels::JpegMarkers markers;
  std::vector<std::byte> jpeg;
  const bool fits = pixels::splice_jpeg(d.jpeg_tables, raw, d.photometric == kRgb, markers, jpeg) &&
                    markers.height == d.tile_height && markers.width == d.tile_width;
  return fits ? std::optional(std::move(jpeg)) : std::nullopt;
}

/// The same.
std::optional<std::vector<std::byte>> copy_jpeg2000_tile(const TiffDirectory& d,
                                                         std::span<const std::byte> raw,
                                                         const std::string& file) {
  const auto stream = pixels::find_codestream(raw);
  const auto size = stream ? pixels::read_jpeg2000_size(stream->codestream) : std::nullopt;
  const bool fits = size && size->height == d.tile_height && size->width == d.tile_width &&
                    size->components == 3 && size->bytes;
  if (!fits) return std::nullopt;
  if (stream->recoloured) {
    fail(ErrorCode::unsupported,
         "{}: JPEG 2000 with a palette or an order of channels is not copied; store the slide "
         "with another codec",
         file);
  }
  auto copy = pixels::copy_jpeg2000(stream->codestream, stream->sycc || is_ycbcr_jpeg2000(d));
  return copy.empty() ? std::nullopt : std::optional(std::move(copy));
}

class TiffEncodedTiles : public EncodedTiles {
 public:
  TiffEncodedTiles(std::shared_ptr<const storage::Object> file, TileCodec codec,
                   std::vector<TiffDirectory> directories)
      : file_(std::move(file)), codec_(codec), directories_(std::move(directories)) {
    for (auto& d : directories_) {
      levels_.push_back({d.height, d.width, d.tile_height, d.tile_width});
      d.description.clear();
    }
  }

  TileCodec codec() const override { return codec_; }
  const std::vector<EncodedTileLevel>& levels() const override { return levels_; }

  std::vector<std::byte> tile(int level, std::int64_t tile_y, std::int64_t tile_x) const override {
    const TiffDirectory& d = directory(level);
    const std::size_t index = index_of(level, {tile_y, tile_x});
    if (d.is_missing(index)) return {};
    return of_tile(level, index, [&] {
      std::vector<std::byte> raw(d.tile_bytes[index]);
      file_->read(d.tile_offsets[index], raw);
      return self_contained(d, index, raw);
    });
  }

  std::vector<std::vector<std::byte>> tiles(int level,
                                            std::span<const TileNumber> wanted) const override {
    const TiffDirectory& d = directory(level);
    std::vector<std::vector<std::byte>> all(wanted.size());
    if (!by_requests()) {
      for (std::size_t i = 0; i < wanted.size(); ++i)
        all[i] = tile(level, wanted[i].y, wanted[i].x);
      return all;
    }
    std::vector<std::size_t> indices;
    std::vector<storage::ByteRun> runs;
    for (const TileNumber& number : wanted) {
      const std::size_t index = index_of(level, number);
      indices.push_back(index);
      if (d.is_missing(index)) {
        runs.push_back({});
        continue;
      }
      of_tile(level, index, [] { return 0; });
      runs.push_back({d.tile_offsets[index], d.tile_bytes[index]});
    }
    const auto raw = storage::read_runs(*file_, runs);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (runs[i].count == 0) continue;
      all[i] = of_tile(level, indices[i], [&] { return self_contained(d, indices[i], raw.of(i)); });
    }
    return all;
  }
  bool by_requests() const override { return file_->cost().asynchronous; }

  std::vector<TilePlace> places(int level) const override {
    const TiffDirectory& d = directory(level);
    std::vector<TilePlace> all(d.tile_offsets.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (d.is_missing(i)) continue;
      with_context(fmt::format("level {}, tile {}", level, i), [&] { check_place(d, i); });
      all[i] = {d.tile_offsets[i], d.tile_bytes[i]};
    }
    return all;
  }
  std::span<const std::byte> jpeg_tables(int level) const override {
    return directory(level).jpeg_tables;
  }
  bool is_rgb(int level) const override {
    const TiffDirectory& d = directory(level);
    return codec_ == TileCodec::jpeg ? d.photometric == kRgb : !is_ycbcr_jpeg2000(d);
  }

 private:
  const TiffDirectory& directory(int level) const {
    if (level < 0 || level >= static_cast<int>(levels_.size())) {
      fail(ErrorCode::usage, "{}: has {} levels of encoded tiles, level {} was asked for",
           file_->describe(), levels_.size(), level);
    }
    return directories_[static_cast<std::size_t>(level)];
  }

  std::size_t index_of(int level, const TileNumber& number) const {
    const TiffDirectory& d = directory(level);
    if (number.y < 0 || number.x < 0 || number.y >= d.tiles_down() ||
        number.x >= d.tiles_across()) {
      fail(ErrorCode::usage, "{}: level {} has {}x{} tiles, tile row {}, column {} was asked for",
           file_->describe(), level, d.tiles_across(), d.tiles_down(), number.y, number.x);
    }
    return static_cast<std::size_t>(number.y * d.tiles_across() + number.x);
  }

  /// What `make` gives of a tile whose place was found sound; names the tile in errors.
  template <typename Make>
  std::invoke_result_t<const Make&> of_tile(int level, std::size_t index, const Make& make) const {
    const TiffDirectory& d = directory(level);
    const auto across = static_cast<std::size_t>(d.tiles_across());
    return with_context(
        fmt::format("level {}, tile row {}, column {}", level, index / across, index % across),
        [&] {
          check_place(d, index);
          return make();
        });
  }

  std::vector<std::byte> self_contained(const TiffDirectory& d, std::size_t index,
                                        std::span<const std::byte> raw) const {
    auto tile = codec_ == TileCodec::jpeg ? splice_jpeg_tile(d, raw)
                                          : copy_jpeg2000_tile(d, raw, file_->describe());
    if (!tile) {
      fail(ErrorCode::corrupt, "{}: the tile at byte {} is not a colour {} of {}x{} pixels{}",
           file_->describe(), d.tile_offsets[index],
           codec_ == TileCodec::jpeg ? "JPEG" : "JPEG 2000", d.tile_width, d.tile_height,
           codec_ == TileCodec::jpeg ? "" : ", or ends early; it is damaged");
    }
    return std::move(*tile);
  }

  void check_place(const TiffDirectory& d, std::size_t index) const {
    if (d.tile_offsets[index] <= file_->size_bytes() &&
        d.tile_bytes[index] <= file_->size_bytes() - d.tile_offsets[index])
      return;
    fail(ErrorCode::corrupt,
         "{}: the tile lies at bytes {} to {}, but the file ends at {}; it is truncated or damaged",
         file_->describe(), d.tile_offsets[index], d.tile_offsets[index] + d.tile_bytes[index],
         file_->size_bytes());
  }

  std::shared_ptr<const storage::Object> file_;
  TileCodec codec_;
  std::vector<TiffDirectory> directories_;
  std::vector<EncodedTileLevel> levels_;
};

}  // namespace

std::unique_ptr<EncodedTiles> EncodedTiles::of(std::shared_ptr<const storage::Object> file,
                                               std::vector<TiffDirectory> levels) {
  const auto codec = levels.empty() ? std::nullopt : codec_of(levels[0]);
  if (!codec) return nullptr;
  std::erase_if(levels, [&](const TiffDirectory& level) { return codec_of(level) != codec; });
  return std::make_unique<TiffEncodedTiles>(std::move(file), *codec, std::move(levels));
}

void decode_tile(TileCodec codec, std::span<const std::byte> tile, const std::string& origin,
                 const EncodedTileLevel& level, std::uint8_t* dst, std::int64_t row_stride_bytes) {
  if (codec == TileCodec::jpeg) {
    return pixels::decode_jpeg_rgb(tile, origin, level.tile_height, level.tile_width, dst,
                                   row_stride_bytes);
  }
  decode_tile_window(codec, tile, origin, level, {0, 0, level.tile_height, level.tile_width}, dst,
                     row_stride_bytes);
}

void decode_tile_window(TileCodec codec, std::span<const std::byte> tile, const std::string& origin,
                        const EncodedTileLevel& level, const Box2& window, std::uint8_t* dst,
                        std::int64_t row_stride_bytes) {
  const pixels::JpegWindow part{window.y0, window.y0 + window.height, window.x0,
                                window.x0 + window.width};
  if (codec == TileCodec::jpeg)
    return pixels::decode_jpeg_rgb(tile, origin, part, dst, row_stride_bytes);
  pixels::decode_jpeg2000_window(tile, origin, {level.tile_height, level.tile_width, 3}, part,
                                 reinterpret_cast<std::byte*>(dst), row_stride_bytes);
}

}  // namespace headrace::imaging
