#include "headrace/pixels/volume/bit_morphology.hpp"

#include <algorithm>

#include "headrace/pixels/passes/volume_passes.hpp"

namespace headrace::pixels {

void threshold_slice(const std::int16_t* values, std::int16_t threshold, std::int64_t z,
                     BitVolume& out) {
  const std::int64_t height = out.shape_zyx()[1], width = out.shape_zyx()[2];
  for (std::int64_t y = 0; y < height; ++y, values += width) {
    std::uint64_t* row = out.row(z, y);
    for (std::int64_t word = 0; word < out.words_per_row(); ++word) {
      const std::int64_t count = std::min<std::int64_t>(64, width - 64 * word);
      row[word] = bits_above(values + 64 * word, static_cast<std::int32_t>(count), threshold);
    }
  }
}

namespace {

BitVolume by_rectangle(const BitVolume& mask, int ry, int rx, bool erode) {
  const auto [depth, height, width] = mask.shape_zyx();
  const std::int64_t words = mask.words_per_row();
  const SlicesShape slice{1, static_cast<std::int32_t>(height), static_cast<std::int32_t>(width)};
  BitVolume along_x(mask.shape_zyx()), out(mask.shape_zyx());
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = 0; y < height; ++y) {
      std::uint64_t* dst = along_x.row(z, y);
      for (std::int32_t w = 0; w < words; ++w) {
        dst[w] = word_along_x(mask.row(z, y), slice, w, rx, erode);
      }
    }
    for (std::int64_t y = 0; y < height; ++y) {
      std::uint64_t* dst = out.row(z, y);
      std::copy_n(along_x.row(z, y), words, dst);
      for (std::int64_t n = std::max<std::int64_t>(0, y - ry); n <= std::min(height - 1, y + ry);
           ++n) {
        const std::uint64_t* other = along_x.row(z, n);
        for (std::int64_t w = 0; w < words; ++w) {
          dst[w] = erode ? dst[w] & other[w] : dst[w] | other[w];
        }
      }
    }
  }
  return out;
}

}  // namespace

BitVolume erode_slices(const BitVolume& mask, int ry, int rx) {
  return by_rectangle(mask, ry, rx, true);
}
BitVolume dilate_slices(const BitVolume& mask, int ry, int rx) {
  return by_rectangle(mask, ry, rx, false);
}

void intersect(BitVolume& mask, const BitVolume& other) {
  const auto& shape = mask.shape_zyx();
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t w = 0; w < mask.words_per_row(); ++w)
        mask.row(z, y)[w] &= other.row(z, y)[w];
    }
  }
}

}  // namespace headrace::pixels
