#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/note.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::imaging {

class EncodedTiles;

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
  std::optional<Box2> bounds;  ///< what was scanned, in pixels of level 0, where the file says it
  std::string background_colour;  ///< "rrggbb", where the file says it
  std::vector<Note> notes;        ///< what was left out or guessed
};

/// A patch of a slide: pixels of `level` from (y0, x0), which may be negative, as (y, x, c) uint8
/// RGB without gaps.
struct SlidePatch {
  int level = 0;
  std::int64_t y0 = 0, x0 = 0;
  std::uint8_t* dst = nullptr;
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

  /// A region as OpenSlide's read_region gives it: its first pixel lies at (y0, x0) of level 0,
  /// dst is (y, x, c) uint8 RGBA without gaps, not premultiplied; (0, 0, 0, 0) outside the slide
  /// and where it stores nothing. A place between two pixels of a level is interpolated where
  /// OpenSlide reads the file, and else moved to the nearest pixel. Errors: as read.
  virtual void read_rgba(int level, std::int64_t y0, std::int64_t x0, std::int64_t height,
                         std::int64_t width, std::uint8_t* dst) const;
  /// Many patches of height × width, at once, on the pool's threads: the pixels of `read`. A tile
  /// under several patches is decoded once where the reader knows the tiles. Errors: as read, of
  /// the same patch for any number of threads.
  virtual void read_patches(std::span<const SlidePatch> patches, std::int64_t height,
                            std::int64_t width, ThreadPool& pool) const;

  /// The tiles that the file stores as JPEG or JPEG 2000, for copying them as they are: those of its
  /// levels that decode to what `read` returns, with their sizes. Null where level 0 has none. As
  /// long as the reader.
  virtual const EncodedTiles* encoded_tiles() const { return nullptr; }

  /// Opens by what the bytes are, whatever the name: an SVS or a TIFF also without OpenSlide, and
  /// where the object is no file of this machine; a scanner's other formats by OpenSlide alone.
  /// Errors: malformed (not a slide or truncated), unsupported, io; each names the file.
  static std::unique_ptr<SlideReader> open(std::shared_ptr<const storage::Object> object);
  /// The same of a path or URL. Errors: also not_found.
  static std::unique_ptr<SlideReader> open(const std::string& path);
};

}  // namespace headrace::imaging
