#include "learn/process/stored_pixels.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/imaging/tiff/encoded_tiles.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::process {
namespace {

constexpr std::uint16_t kUncompressed = 1, kRgb = 2;
constexpr std::int64_t kMaxTileSide = 8192;

bool plain_rgb_tiles(const imaging::TiffDirectory& d) {
  return d.tiled() && d.tile_height <= kMaxTileSide && d.tile_width <= kMaxTileSide &&
         d.compression == kUncompressed && d.photometric == kRgb && d.samples == 3 && d.bits == 8 &&
         d.planar == 1 && d.image_depth == 1 &&
         d.tile_offsets.size() == static_cast<std::size_t>(d.tiles_across() * d.tiles_down()) &&
         d.tile_bytes.size() == d.tile_offsets.size();
}

struct Tiles {
  std::string path;
  std::uint64_t file_bytes = 0, block_bytes = 0;
  imaging::TiffDirectory directory;

  StoredPixels::Block block(std::int64_t row, std::int64_t column) const {
    const auto i = static_cast<std::size_t>(row * directory.tiles_across() + column);
    const std::uint64_t offset = directory.tile_offsets[i];
    if (offset == 0 || directory.tile_bytes[i] != block_bytes || offset > file_bytes ||
        block_bytes > file_bytes - offset) {
      return {};
    }
    return {path, offset};
  }
};

/// Whether a tile's bytes equal the reader's pixels: this detects a rotated picture, or colours
/// that the reader changes.
bool same_as_read(const Tiles& tiles, const storage::Object& file, const ImageSource& source,
                  std::int64_t row, std::int64_t column) {
  const auto& d = tiles.directory;
  const auto block = tiles.block(row, column);
  if (block.path.empty()) return true;  // the reader reads it
  const Box2 box{row * d.tile_height, column * d.tile_width,
                 std::min(d.tile_height, d.height - row * d.tile_height),
                 std::min(d.tile_width, d.width - column * d.tile_width)};
  std::vector<std::byte> stored(tiles.block_bytes);
  file.read(block.offset, stored);
  std::vector<std::uint8_t> read(static_cast<std::size_t>(box.height * box.width * 3));
  source.read(box, read.data(), box.width * 3);
  for (std::int64_t y = 0; y < box.height; ++y) {
    if (std::memcmp(stored.data() + y * d.tile_width * 3, read.data() + y * box.width * 3,
                    static_cast<std::size_t>(box.width * 3)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

StoredPixels stored_tiff_pixels(const std::string& path, const ImageSource& source) {
  const ImageInfo& info = source.info();
  std::vector<imaging::TiffDirectory> directories;
  const auto file = storage::open_input(path);
  try {
    directories = imaging::read_tiff_directories(*file);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return {.why_not = fmt::format("{} is not a TIFF that can be read without its reader", path)};
  }
  const auto found = std::find_if(directories.begin(), directories.end(), [&](const auto& d) {
    return d.height == info.height && d.width == info.width;
  });
  if (found == directories.end() || info.channels != 3 || !plain_rgb_tiles(*found)) {
    return {.why_not =
                fmt::format("{} has no tiles of uncompressed 8-bit RGB at that level", path)};
  }
  Tiles tiles{path, file->size_bytes(), 0, std::move(*found)};
  const auto& d = tiles.directory;
  tiles.block_bytes = static_cast<std::uint64_t>(3 * d.tile_height * d.tile_width);
  if (!same_as_read(tiles, *file, source, 0, 0) ||
      !same_as_read(tiles, *file, source, d.tiles_down() - 1, d.tiles_across() - 1)) {
    return {.why_not =
                fmt::format("the tiles of {} are not the pixels that its reader gives", path)};
  }
  StoredPixels out;
  out.block_height = d.tile_height;
  out.block_width = d.tile_width;
  out.channel_bytes = 1;
  out.row_bytes = 3 * d.tile_width;
  out.pixel_bytes = 3;
  out.block_bytes = tiles.block_bytes;
  out.block = [tiles = std::make_shared<Tiles>(std::move(tiles))](
                  std::int64_t row, std::int64_t column) { return tiles->block(row, column); };
  return out;
}

JpegBlocks jpeg_slide_blocks(std::shared_ptr<const imaging::SlideReader> slide,
                             const std::string& path, const ImageSource& source) {
  const ImageInfo& info = source.info();
  const imaging::EncodedTiles* stored = slide->encoded_tiles();
  const std::shared_ptr<const imaging::EncodedTiles> tiles(std::move(slide), stored);
  const auto none = [&] {
    return JpegBlocks{.why_not = fmt::format("{} has no colour JPEG tiles at that level", path)};
  };
  if (tiles == nullptr || tiles->codec() != imaging::TileCodec::jpeg || info.channels != 3)
    return none();
  const auto& levels = tiles->levels();
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (levels[level].height != info.height || levels[level].width != info.width) continue;
    return {{},
            levels[level].tile_height,
            levels[level].tile_width,
            [tiles, level](std::int64_t row, std::int64_t column) {
              return tiles->tile(static_cast<int>(level), row, column);
            }};
  }
  return none();
}

StoredPixels stored_zarr_pixels(const std::string& folder, const zarr::ArrayMetadata& metadata,
                                int channels) {
  if (folder.empty()) return {.why_not = "its chunks lie in shards of a store"};
  const bool plain = metadata.codecs.size() == 1 && metadata.codecs[0].value("name", "") == "bytes";
  if (!plain)
    return {.why_not = fmt::format("the chunks of {} are compressed, or in shards", folder)};
  const std::size_t rank = metadata.shape.size();
  if (rank == 3 && metadata.chunk_shape[0] != channels) {
    return {.why_not = fmt::format("the chunks of {} hold one channel each", folder)};
  }
  StoredPixels out;
  out.block_height = metadata.chunk_shape[rank - 2];
  out.block_width = metadata.chunk_shape[rank - 1];
  out.pixel_bytes = 1;
  out.row_bytes = out.block_width;
  out.channel_bytes = out.block_width * out.block_height;
  out.block_bytes = static_cast<std::uint64_t>(out.channel_bytes * channels);
  out.block = [folder, metadata, bytes = out.block_bytes, rank](
                  std::int64_t row, std::int64_t column) -> StoredPixels::Block {
    std::vector<std::int64_t> chunk{row, column};
    if (rank == 3) chunk.insert(chunk.begin(), 0);
    std::string path = folder + "/" + metadata.chunk_key(chunk);
    std::error_code error;
    // A missing chunk is fill value and one of another size is damaged: the reader handles both.
    if (std::filesystem::file_size(path, error) != bytes || error) return {};
    return {std::move(path), 0};
  };
  return out;
}

}  // namespace headrace::process
