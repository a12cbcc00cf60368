#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/core/json.hpp"

namespace headrace::process {

struct ImageInfo {
  std::int64_t height = 0, width = 0;
  int channels = 3;                                ///< 3: RGB; 1: grey
  std::int64_t block_height = 0, block_width = 0;  ///< unit of decoding
  std::optional<double> mpp_y, mpp_x;              ///< micrometres a pixel of the level
  std::string format;                              ///< "generic-tiff", "aperio", "zarr" …
};

/// Blocks of an image that local files hold as plain pixels, to be read into their places.
struct StoredPixels {
  struct Block {
    std::string path;  ///< empty: this block is not stored in this way
    std::uint64_t offset = 0;
  };
  std::string why_not;                             ///< why no block is; empty: some are
  std::int64_t block_height = 0, block_width = 0;  ///< blocks at the edges are stored whole
  std::int64_t channel_bytes = 0, row_bytes = 0, pixel_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::function<Block(std::int64_t row, std::int64_t column)> block = {};
};

/// Blocks of an image that are JPEGs of three channels.
struct JpegBlocks {
  std::string why_not;  ///< as above
  std::int64_t block_height = 0, block_width = 0;
  /// A whole JPEG; empty: this block is not stored. Errors: corrupt, io (names tile and file).
  std::function<std::vector<std::byte>(std::int64_t row, std::int64_t column)> block = {};
};

/// One level of an image as 8-bit pixels, wherever it is stored. Safe from any thread.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  virtual const ImageInfo& info() const = 0;
  /// Reads a box inside the image: (y, x, c), c innermost, rows `row_bytes` apart. Errors: corrupt
  /// (names the tile and the file), io.
  virtual void read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const = 0;
  /// Ways for its bytes to a GPU without decoding here. The results must not outlive the source.
  /// Errors: io.
  virtual StoredPixels stored_pixels() const;
  virtual JpegBlocks jpeg_blocks() const;
  /// Changes when the pixels change; holds no path.
  virtual std::string fingerprint() const = 0;

  /// path: a slide, TIFF, PNG or JPEG file; a folder with an OME-Zarr image or a Zarr array (uint8;
  /// (c, y, x) with 3 channels or (y, x)); or a store that `ingest` made, with `image` naming one
  /// of its images. level: of its pyramid.
  ///
  /// errors  not_found, malformed, unsupported; usage (no such level; an image must be named);
  ///         corrupt (the output of an interrupted run)
  static std::unique_ptr<ImageSource> open(const std::string& path, const std::string& image,
                                           int level);
};

}  // namespace headrace::process
