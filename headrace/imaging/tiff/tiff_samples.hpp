#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/imaging/colour_count.hpp"
#include "headrace/imaging/tiff/label_sample.hpp"
#include "headrace/imaging/tiff/tiff_block.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"

namespace headrace::imaging {

/// What the samples of a picture's blocks stand for: rows of them as RGB, or as labels.
class TiffSamples {
 public:
  using Palette = std::vector<std::array<std::uint8_t, 3>>;

  TiffSamples() = default;
  /// d: as libtiff reads it, so that a row has as many samples as it states.
  TiffSamples(std::string path, const TiffDirectory& d, SampleKind kind, Palette palette);

  TiffColours colours() const noexcept { return colours_; }
  const Palette& palette() const noexcept { return palette_; }

  /// Pixels [x, x + count) of a row of a block: missing blocks and transparent pixels are white.
  void rgb_row(const TiffBlock& block, std::int64_t row, std::int64_t x, std::int64_t count,
               std::uint8_t* dst) const;
  /// The first sample of each pixel; (at_y, at_x): its place in the picture, for errors. Errors:
  /// malformed (a value that is no label).
  void label_row(const TiffBlock& block, std::int64_t row, std::int64_t x, std::int64_t count,
                 std::int64_t at_y, std::int64_t at_x, std::uint16_t* dst) const;
  void count_colours(const TiffBlock& block, std::int64_t row, std::int64_t x, std::int64_t count,
                     ColourCount& colours) const;

 private:
  void grey_row(const TiffBlock& block, const std::uint8_t* row, std::int64_t x, std::int64_t count,
                std::uint8_t* dst) const;
  void put_on_white(const TiffBlock& block, const std::uint8_t* row, std::int64_t x,
                    std::int64_t count, std::uint8_t* dst) const;
  double number_at(const TiffBlock& block, const std::uint8_t* row, std::int64_t index,
                   int sample) const;

  std::string path_;
  int bits_ = 8, samples_ = 1;
  bool planar_ = false, white_is_zero_ = false;
  SampleKind kind_ = SampleKind::unsigned_integer;
  TiffColours colours_ = TiffColours::none;
  TiffAlpha alpha_ = TiffAlpha::none;
  Palette palette_;
};

}  // namespace headrace::imaging
