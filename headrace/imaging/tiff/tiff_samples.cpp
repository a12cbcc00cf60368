#include "headrace/imaging/tiff/tiff_samples.hpp"

#include <tiff.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

unsigned sample_at(const std::uint8_t* row, std::int64_t index, int bits) {
  if (bits == 8) return row[index];
  if (bits == 16) {
    std::uint16_t value;
    std::memcpy(&value, row + index * 2, 2);
    return value;
  }
  const std::int64_t bit = index * bits;
  return unsigned(row[bit >> 3] >> (8 - bits - (bit & 7))) & ((1u << bits) - 1);
}

}  // namespace

TiffSamples::TiffSamples(std::string path, const TiffDirectory& d, SampleKind kind, Palette palette)
    : path_(std::move(path)),
      bits_(d.bits),
      samples_(d.samples),
      planar_(d.planar == PLANARCONFIG_SEPARATE && d.samples > 1),
      white_is_zero_(d.photometric == PHOTOMETRIC_MINISWHITE),
      kind_(kind),
      colours_(tiff_colours(d)),
      alpha_(tiff_alpha(d)),
      palette_(std::move(palette)) {}

void TiffSamples::rgb_row(const TiffBlock& block, std::int64_t y, std::int64_t bx,
                          std::int64_t count, std::uint8_t* dst) const {
  if (!planar_ && block.lacks(0)) {
    std::memset(dst, 255, std::size_t(count * 3));  // glass
    return;
  }
  const std::uint8_t* row = block.bytes.data() + y * block.row_bytes;
  if (colours_ == TiffColours::libtiff) {
    std::memcpy(dst, row + bx * 3, std::size_t(count * 3));
  } else if (colours_ == TiffColours::grey) {
    grey_row(block, row, bx, count, dst);
  } else if (planar_) {
    for (int c = 0; c < 3; ++c) {
      for (std::int64_t i = 0; i < count; ++i)
        dst[i * 3 + c] = block.lacks(c) ? std::uint8_t{255} : row[c * block.plane_bytes + bx + i];
    }
  } else if (samples_ == 3) {
    std::memcpy(dst, row + bx * 3, std::size_t(count * 3));
  } else {
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(dst + i * 3, row + (bx + i) * samples_, 3);
  }
  if (alpha_ != TiffAlpha::none) put_on_white(block, row, bx, count, dst);
}

/// Transparent pixels become white. source: libtiff, tif_getimage.c (BuildMapUaToAa), by which
/// OpenSlide reads such tiles.
void TiffSamples::put_on_white(const TiffBlock& block, const std::uint8_t* row, std::int64_t bx,
                               std::int64_t count, std::uint8_t* dst) const {
  const int sample = colours_ == TiffColours::grey ? 1 : 3;
  if (planar_ && block.lacks(sample)) {
    std::memset(dst, 255, std::size_t(count * 3));
    return;
  }
  const std::uint8_t* first =
      row + (planar_ ? sample * block.plane_bytes + bx : bx * samples_ + sample);
  const std::int64_t step = planar_ ? 1 : samples_;
  for (std::int64_t i = 0; i < count; ++i) {
    const unsigned alpha = first[i * step];
    if (alpha == 255) continue;
    for (int c = 0; c < 3; ++c) {
      const unsigned value = dst[i * 3 + c];
      const unsigned covered =
          alpha_ == TiffAlpha::separate ? (value * alpha + 127) / 255 : std::min(value, alpha);
      dst[i * 3 + c] = std::uint8_t(covered + 255 - alpha);
    }
  }
}

void TiffSamples::grey_row(const TiffBlock& block, const std::uint8_t* row, std::int64_t bx,
                           std::int64_t count, std::uint8_t* dst) const {
  if (block.lacks(0)) {
    std::memset(dst, 255, std::size_t(count * 3));
    return;
  }
  const std::int64_t step = planar_ ? 1 : samples_;
  const unsigned top = (1u << bits_) - 1;
  for (std::int64_t i = 0; i < count; ++i) {
    unsigned value = sample_at(row, (bx + i) * step, bits_);
    if (!palette_.empty()) {
      std::memcpy(dst + i * 3, palette_[value].data(), 3);
      continue;
    }
    value = value * 255 / top;
    if (white_is_zero_) value = 255 - value;
    std::memset(dst + i * 3, int(value), 3);
  }
}

void TiffSamples::label_row(const TiffBlock& block, std::int64_t y, std::int64_t bx,
                            std::int64_t count, std::int64_t at_y, std::int64_t at_x,
                            std::uint16_t* dst) const {
  const std::uint8_t* row = block.bytes.data() + y * block.row_bytes;
  if (bits_ <= 16 && kind_ == SampleKind::unsigned_integer) {
    const std::int64_t step = planar_ ? 1 : samples_;
    for (std::int64_t i = 0; i < count; ++i)
      dst[i] = std::uint16_t(sample_at(row, (bx + i) * step, bits_));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const double number = number_at(block, row, bx + i, 0);
    const auto label = label_of_number(number);
    if (!label) {
      fail(ErrorCode::malformed,
           "{}: value {:.6g} at y {}, x {} is no label, expected whole numbers from 0", path_,
           number, at_y, at_x + i);
    }
    dst[i] = *label;
  }
}

double TiffSamples::number_at(const TiffBlock& block, const std::uint8_t* row, std::int64_t index,
                              int sample) const {
  const std::uint8_t* plane = row + (planar_ ? sample * block.plane_bytes : 0);
  const std::int64_t at = planar_ ? index : index * samples_ + sample;
  return bits_ < 8 ? sample_at(plane, at, bits_)
                   : sample_number(plane + at * (bits_ / 8), bits_, kind_);
}

void TiffSamples::count_colours(const TiffBlock& block, std::int64_t y, std::int64_t x,
                                std::int64_t count, ColourCount& colours) const {
  const std::uint8_t* row = block.bytes.data() + y * block.row_bytes;
  for (std::int64_t i = x; i < x + count && samples_ >= 3; ++i)
    colours.add(number_at(block, row, i, 0), number_at(block, row, i, 1),
                number_at(block, row, i, 2));
  if ((samples_ != 2 && samples_ != 4) || block.missing != 0) return;
  for (std::int64_t i = x; i < x + count; ++i)
    colours.add_beside(number_at(block, row, i, samples_ - 1));
}

}  // namespace headrace::imaging
