#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::imaging {

struct SlideLevel {
  std::int64_t height = 0, width = 0;
  double downsample = 1;                           ///< against level 0
  std::int64_t block_height = 0, block_width = 0;  ///< unit of decoding; 0: not known
};

/// All that is taken from a slide file, an allow-list. No label or macro image, no free text, no
/// dates, no identifiers.
struct SlideInfo {
  std::string format;  ///< "aperio", "hamamatsu", "mirax", "dicom", "generic-tiff", "png" …
  std::vector<SlideLevel> levels;
  std::optional<double> mpp_y, mpp_x;  ///< micrometres a pixel of level 0
  std::optional<double> objective_power;
  std::vector<std::byte> icc_profile;
};

/// A reader of one slide or plain image. Safe from any thread.
/// OpenSlide formats go through OpenSlide; the first picture of a plain TIFF with its levels, and
/// PNG and JPEG images of tissue, are slides as well.
class SlideReader {
 public:
  virtual ~SlideReader() = default;
  virtual const SlideInfo& info() const = 0;
  /// Reads pixels of `level` into dst: (y, x, c) uint8 sRGB as stored, c innermost, rows
  /// `row_stride_bytes` apart. origin is in pixels of that level and may be negative; pixels
  /// outside the slide (and where it stores nothing) read as white. Errors: corrupt (a tile can't
  /// be decoded), io.
  virtual void read(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                    std::int64_t width, std::uint8_t* dst, std::int64_t row_stride_bytes) const = 0;

  /// Errors: not_found, malformed (not a slide or truncated), unsupported; each names the file.
  static std::unique_ptr<SlideReader> open(const std::string& path);
};

}  // namespace headrace::imaging
