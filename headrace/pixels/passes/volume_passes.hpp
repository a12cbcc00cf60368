#pragma once
#include <cstdint>

#include "headrace/math/hd.hpp"

/// Slices of a volume, (z, y, x) without gaps, and masks of one bit a voxel whose rows start at
/// whole words: bit x & 63 of word x >> 6, bits beyond a row's end are 0.
namespace headrace::pixels {

struct SlicesShape {
  std::int64_t depth;
  std::int32_t height, width;

  HR_HD std::int32_t words() const { return (width + 63) / 64; }  ///< of a row
  /// The bits of a row's last word that belong to the row.
  HR_HD std::uint64_t last_word_mask() const {
    const std::int32_t used = width & 63;
    return used == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
  }
};

/// 64 voxels of a row: the bits of those above a threshold.
HR_HD std::uint64_t bits_above(const std::int16_t* values, std::int32_t count,
                               std::int16_t threshold) {
  std::uint64_t bits = 0;
  for (std::int32_t i = 0; i < count; ++i) bits |= std::uint64_t{values[i] > threshold} << i;
  return bits;
}

struct ThresholdWord {
  SlicesShape shape;
  const std::int16_t* values;
  std::int16_t threshold;
  std::uint64_t* bits;

  HR_HD std::int64_t items() const { return shape.depth; }
  HR_HD std::int32_t elements() const { return shape.height * shape.words(); }
  HR_HD void operator()(std::int64_t z, std::int32_t element) const {
    const std::int32_t y = element / shape.words(), word = element % shape.words();
    const std::int32_t left = shape.width - 64 * word;
    bits[z * elements() + element] =
        bits_above(values + (z * shape.height + y) * shape.width + 64 * word, left < 64 ? left : 64,
                   threshold);
  }
};

/// Word of a row in which each voxel is combined with its `radius` (up to 63) neighbours on both
/// sides: by and (`erode`; voxels outside the row count as set), else by or (voxels outside are
/// clear).
HR_HD std::uint64_t word_along_x(const std::uint64_t* row, const SlicesShape& shape,
                                 std::int32_t word, std::int32_t radius, bool erode) {
  const std::uint64_t outside = erode ? ~std::uint64_t{0} : 0;
  const std::int32_t last = shape.words() - 1;
  const std::uint64_t beyond = outside & ~shape.last_word_mask();
  const std::uint64_t before = word > 0 ? row[word - 1] : outside;
  const std::uint64_t here = row[word] | (word == last ? beyond : 0);
  const std::uint64_t after =
      word < last ? row[word + 1] | (word + 1 == last ? beyond : 0) : outside;
  std::uint64_t joined = here;
  for (std::int32_t n = 1; n <= radius; ++n) {
    const std::uint64_t left = here << n | before >> (64 - n);
    const std::uint64_t right = here >> n | after << (64 - n);
    joined = erode ? joined & left & right : joined | left | right;
  }
  return word == last ? joined & shape.last_word_mask() : joined;
}

struct WordAlongX {
  SlicesShape shape;
  const std::uint64_t* src;
  std::uint64_t* dst;
  std::int32_t radius;
  bool erode;

  HR_HD std::int64_t items() const { return shape.depth; }
  HR_HD std::int32_t elements() const { return shape.height * shape.words(); }
  HR_HD void operator()(std::int64_t z, std::int32_t element) const {
    const std::int32_t y = element / shape.words(), word = element % shape.words();
    const std::int64_t row = (z * shape.height + y) * shape.words();
    dst[row + word] = word_along_x(src + row, shape, word, radius, erode);
  }
};

/// The same over the rows above and below; rows outside the slice are left out.
struct WordAlongY {
  SlicesShape shape;
  const std::uint64_t* src;
  const std::uint64_t* within;  ///< the result is limited to this mask; null: no limit
  std::uint64_t* dst;
  std::int32_t radius;
  bool erode;

  HR_HD std::int64_t items() const { return shape.depth; }
  HR_HD std::int32_t elements() const { return shape.height * shape.words(); }
  HR_HD void operator()(std::int64_t z, std::int32_t element) const {
    const std::int32_t words = shape.words(), y = element / words;
    const std::int32_t first = y < radius ? -y : -radius;
    const std::int32_t last = shape.height - 1 - y < radius ? shape.height - 1 - y : radius;
    const std::int64_t at = z * elements() + element;
    std::uint64_t joined = src[at];
    for (std::int32_t n = first; n <= last; ++n) {
      const std::uint64_t other = src[at + std::int64_t{n} * words];
      joined = erode ? joined & other : joined | other;
    }
    dst[at] = within == nullptr ? joined : joined & within[at];
  }
};

/// Counts voxels by their value: those of a mask, or those with a label.
struct IntensityCount {
  /// Bins of 0, at -32,768; most voxels of a scan lie between air (-1,024) and metal.
  static constexpr std::int32_t kBins = 65536, kNearFirst = 32768 - 1024, kNear = 4096;
  SlicesShape shape;
  const std::int16_t* values;
  const std::uint64_t* mask;   ///< null: labels decide
  const std::uint8_t* labels;  ///< one a voxel: any but 0 and `ignored`; null: every voxel counts
  std::uint8_t ignored;
  std::uint64_t* counts;  ///< kBins, added to; value v is at v + 32,768

  HR_HD std::int64_t items() const { return shape.depth * shape.height; }
  HR_HD std::int32_t elements() const { return shape.width; }
  HR_HD std::int32_t bin(std::int64_t row, std::int32_t x) const {
    const std::int64_t at = row * shape.width + x;
    if (mask != nullptr) {
      if ((mask[row * shape.words() + (x >> 6)] >> (x & 63) & 1) == 0) return -1;
    } else if (labels != nullptr) {
      if (labels[at] == 0 || labels[at] == ignored) return -1;
    }
    return values[at] + 32768;
  }
};

}  // namespace headrace::pixels
