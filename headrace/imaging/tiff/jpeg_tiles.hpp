#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// The tile grid of one pyramid level of a JPEG-compressed tiled TIFF or SVS.
struct JpegTileLevel {
  std::int64_t height = 0, width = 0;
  std::int64_t tile_height = 0, tile_width = 0;
};

/// JPEG tiles of a TIFF or SVS: bytes are copied, not decoded. Safe from any thread.
class JpegTiles {
 public:
  /// Those of the directories that are a slide's levels, level 0 first: null where level 0 has no
  /// tiles of 8-bit RGB JPEG (compression 7); other levels without them are left out. Whether they
  /// decode to what the slide's reader returns, it does not know (SlideReader::jpeg_tiles does).
  static std::unique_ptr<JpegTiles> of(std::shared_ptr<const storage::Object> file,
                                       std::vector<TiffDirectory> levels);
  virtual ~JpegTiles() = default;

  virtual const std::vector<JpegTileLevel>& levels()
      const = 0;  ///< in the slide reader's order, level 0 first
  /// A self-contained JPEG of one tile: tables are spliced in, and an APP14 marker where
  /// photometric is RGB. Empty when the file stores no tile there. Edge tiles are full size.
  /// Errors: corrupt, io (names tile and file).
  virtual std::vector<std::byte> tile(int level, std::int64_t tile_y,
                                      std::int64_t tile_x) const = 0;
};

}  // namespace headrace::imaging
