#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/colour_count.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// What the first directory of a TIFF states about its picture.
struct TiffInfo {
  std::int64_t height = 0, width = 0;
  std::int64_t block_height = 0, block_width = 0;  ///< tiles, or strips as wide as the image
  int bits = 8, samples = 1;
  std::uint16_t compression = 1, photometric = 1;
  std::uint16_t orientation = 1;  ///< 1: row 0 is the top, column 0 the left
};

/// Region reads of one picture of a TIFF by libtiff: classic and BigTIFF, strips and tiles, chunky
/// and planar, every codec that libtiff has, and JPEG 2000 of 8-bit grey and colour (compressions
/// 33003 with YCbCr and 33005 with RGB components of Aperio, 34712). Blocks are decoded one by one
/// and kept in a small cache, large ones some rows at a time, so memory does not grow with the
/// picture. A block that the file does not store is white, in labels 0. Safe from any thread.
class TiffImage {
 public:
  /// directory: the byte at which the picture's directory lies; 0: the first one. Errors:
  /// malformed, unsupported (codec, sample type), memory (a block over 512 MiB that can't be decoded
  /// by rows), io; each names the file.
  static std::unique_ptr<TiffImage> open(std::shared_ptr<const storage::Object> file,
                                         std::uint64_t directory = 0);
  virtual ~TiffImage() = default;

  virtual const TiffInfo& info() const = 0;
  /// Empty where the file has none.
  virtual std::vector<std::byte> icc_profile() const = 0;
  /// Null when read_rgb can work, else why not ("16 bits a sample; 8-bit images are read").
  virtual const std::optional<std::string>& why_not_rgb() const = 0;

  /// A region inside the picture as 8-bit RGB: grey repeated, palettes resolved, white-is-zero
  /// inverted, transparent pixels on white.
  virtual void read_rgb(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                        std::uint8_t* dst, std::int64_t row_stride_bytes) const = 0;
  /// The same as labels as stored (LabelReader::read): grey values, palette indices, the first
  /// sample of several.
  virtual void read_first_sample(std::int64_t y0, std::int64_t x0, std::int64_t height,
                                 std::int64_t width, std::uint16_t* dst,
                                 std::int64_t row_stride) const = 0;
  /// Pixels of rows [y0, y0 + height) whose first three samples differ; none where there are
  /// fewer.
  virtual ColourCount count_colours(std::int64_t y0, std::int64_t height) const = 0;
};

}  // namespace headrace::imaging
