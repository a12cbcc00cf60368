#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// How a slide's tiles are encoded.
enum class TileCodec { jpeg, jpeg2k };

/// The tile grid of one pyramid level of a tiled TIFF or SVS.
struct EncodedTileLevel {
  std::int64_t height = 0, width = 0;
  std::int64_t tile_height = 0, tile_width = 0;
};

/// A tile's place in the grid of its level.
struct TileNumber {
  std::int64_t y = 0, x = 0;
};

/// Where a tile lies in its file.
struct TilePlace {
  std::uint64_t offset = 0, size = 0;  ///< size 0: the file stores no such tile
};

/// Tiles of a TIFF or SVS as the file encodes them: bytes are copied, not decoded. Safe from any
/// thread.
class EncodedTiles {
 public:
  /// Those of the directories that are a slide's levels, level 0 first: null where level 0 has no
  /// tiles of 8-bit RGB in JPEG (compression 7) or JPEG 2000 (33003, 33005, 34712); other levels
  /// without tiles of the same codec are left out. Whether they decode to what the slide's reader
  /// returns, it does not know (SlideReader::encoded_tiles does).
  static std::unique_ptr<EncodedTiles> of(std::shared_ptr<const storage::Object> file,
                                          std::vector<TiffDirectory> levels);
  virtual ~EncodedTiles() = default;

  virtual TileCodec codec() const = 0;
  virtual const std::vector<EncodedTileLevel>& levels()
      const = 0;  ///< in the slide reader's order, level 0 first
  /// One tile, decodable by itself, which states its colours and has no text. JPEG: tables are spliced
  /// in, and an APP14 marker where photometric is RGB. JPEG 2000: the codestream; where its
  /// components are YCbCr, in a JP2 file that says so. Empty when the file stores no tile there.
  /// Edge tiles are full size. Errors: corrupt, unsupported (JPEG 2000 with a palette), io (names
  /// tile and file).
  virtual std::vector<std::byte> tile(int level, std::int64_t tile_y,
                                      std::int64_t tile_x) const = 0;

  /// Several, in their order, read together: of a file on a server neighbours are one request, and all
  /// requests are under way at once. Errors: the same, of the first that has one.
  virtual std::vector<std::vector<std::byte>> tiles(int level,
                                                    std::span<const TileNumber> wanted) const = 0;
  /// Whether reads are requests, of which few are better than many.
  virtual bool by_requests() const = 0;

  // What `tile` makes one of, for readers that do it themselves (pixels/jpeg/jpeg_splice.hpp,
  // pixels/jpeg2000/jpeg2000_stream.hpp).
  /// Of each tile of a level, row by row. Errors: corrupt (a tile that reaches past the end of the
  /// file).
  virtual std::vector<TilePlace> places(int level) const = 0;
  virtual std::span<const std::byte> jpeg_tables(int level) const = 0;  ///< tag JPEGTables
  /// The directory states red, green and blue, not luma and chroma.
  virtual bool is_rgb(int level) const = 0;
};

/// Decodes a whole tile, as `tile` gives it, to 8-bit RGB. Errors: corrupt; begins with `origin`.
void decode_tile(TileCodec codec, std::span<const std::byte> tile, const std::string& origin,
                 const EncodedTileLevel& level, std::uint8_t* dst, std::int64_t row_stride_bytes);
/// The same of a window; dst is its first pixel. Damage outside it may not be found.
void decode_tile_window(TileCodec codec, std::span<const std::byte> tile, const std::string& origin,
                        const EncodedTileLevel& level, const Box2& window, std::uint8_t* dst,
                        std::int64_t row_stride_bytes);

}  // namespace headrace::imaging
