#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::imaging {

/// The tile grid of one pyramid level of a JPEG-compressed tiled TIFF or SVS.
struct JpegTileLevel {
  std::int64_t height = 0, width = 0;
  std::int64_t tile_height = 0, tile_width = 0;
};

/// JPEG tiles of a TIFF or SVS, for passthrough: bytes are copied, not decoded. Safe from any
/// thread.
class JpegTiles {
 public:
  /// Null when the file is not a tiled TIFF with 8-bit RGB JPEG tiles (compression 7) at level 0
  /// that decode to what the slide reader returns; levels that do not qualify are left out. Errors:
  /// malformed (broken directory), io.
  static std::unique_ptr<JpegTiles> open(const std::string& path);
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
