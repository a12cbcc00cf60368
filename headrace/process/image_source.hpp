#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/core/geometry.hpp"
#include "headrace/core/json.hpp"

namespace headrace::process {

struct ImageFacts {
  std::int64_t height = 0, width = 0;
  int channels = 3;                                ///< 3: RGB; 1: grey
  std::int64_t block_height = 0, block_width = 0;  ///< what is decoded at a time
  std::optional<double> mpp_y, mpp_x;              ///< micrometres a pixel of the level
  std::string format;                              ///< "generic-tiff", "aperio", "zarr" …
};

/// One level of an image as 8-bit pixels, wherever it is stored. Safe from any thread.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  virtual const ImageFacts& facts() const = 0;
  /// Reads a box inside the image: (y, x, c), c innermost, rows `row_bytes` apart. Errors: corrupt
  /// (names the tile and the file), io.
  virtual void read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const = 0;
  /// Changes when the pixels do; holds no path.
  virtual std::string fingerprint() const = 0;

  /// path: a slide, TIFF, PNG or JPEG file; a folder with an OME-Zarr image or a Zarr array (uint8;
  /// (c, y, x) with 3 channels or (y, x)); or a store that `ingest` made, with `image` naming one
  /// of its images. level: of its pyramid.
  ///
  /// errors  not_found, malformed, unsupported; usage (no such level, an image is to be named);
  ///         corrupt (the output of an interrupted run)
  static std::unique_ptr<ImageSource> open(const std::string& path, const std::string& image,
                                           int level);
};

}  // namespace headrace::process
