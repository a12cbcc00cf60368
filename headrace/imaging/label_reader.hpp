#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/imaging/colour_count.hpp"

namespace headrace::imaging {

/// Larger labels read as this one: they are numbers of objects, which only differ from 0.
inline constexpr std::uint16_t kMostLabel = 65534;

/// Region reads of a label or mask image: PNG, or TIFF of any codec libtiff knows; integers of 1 to
/// 64 bits with or without sign, and floats, as long as their values are whole numbers from 0 (to
/// 1e-3); palette indices; the first channel of RGB. TIFF is read block by block, so memory does
/// not grow with the image; a PNG is decoded once. Safe from any thread.
class LabelReader {
 public:
  /// Errors: not_found, malformed, unsupported, memory; each names the file.
  static std::unique_ptr<LabelReader> open(const std::string& path);
  virtual ~LabelReader() = default;

  virtual std::int64_t height() const = 0;
  virtual std::int64_t width() const = 0;
  /// Values of rows [y0, y0 + h), columns [x0, x0 + w), which must lie inside the image; rows of
  /// dst are `row_stride` elements apart. Of 32 bits and more, those above kMostLabel are that.
  /// Errors: usage (outside), malformed (a value that is no whole number from 0, with its place),
  /// corrupt (a block can't be decoded), io.
  virtual void read(std::int64_t y0, std::int64_t x0, std::int64_t h, std::int64_t w,
                    std::uint16_t* dst, std::int64_t row_stride) const = 0;
  /// Pixels of rows [y0, y0 + h) whose channels differ.
  virtual ColourCount count_colours(std::int64_t y0, std::int64_t h) const = 0;
};

}  // namespace headrace::imaging
