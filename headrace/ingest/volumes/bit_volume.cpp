#include "headrace/ingest/volumes/bit_volume.hpp"

#include <algorithm>

namespace headrace::ingest {

void threshold_slice(const std::int16_t* values, std::int16_t threshold, std::int64_t z,
                     BitVolume& out) {
  const std::int64_t height = out.shape_zyx()[1], width = out.shape_zyx()[2];
  for (std::int64_t y = 0; y < height; ++y, values += width) {
    std::uint64_t* row = out.row(z, y);
    for (std::int64_t word = 0; word < out.words_per_row(); ++word) {
      const std::int64_t count = std::min<std::int64_t>(64, width - 64 * word);
      std::uint64_t bits = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        bits |= std::uint64_t{values[64 * word + i] > threshold} << i;
      }
      row[word] = bits;
    }
  }
}

namespace {

/// Bits moved by one voxel towards larger x (`up`) or smaller x; `fill` comes in at the border.
std::uint64_t moved(const std::uint64_t* row, std::int64_t words, std::int64_t word, bool up,
                    bool fill, int last_bit) {
  const std::uint64_t in = fill ? 1 : 0;
  if (up) return row[word] << 1 | (word > 0 ? row[word - 1] >> 63 : in);
  if (word + 1 < words) return row[word] >> 1 | row[word + 1] << 63;
  return row[word] >> 1 | in << last_bit;
}

/// One step of r: each voxel with its neighbours in x. `erode`: and, else or.
void step_x(std::vector<std::uint64_t>& row, std::vector<std::uint64_t>& scratch, bool erode,
            int last_bit) {
  const auto words = static_cast<std::int64_t>(row.size());
  for (std::int64_t w = 0; w < words; ++w) {
    const std::uint64_t right = moved(row.data(), words, w, true, erode, last_bit);
    const std::uint64_t left = moved(row.data(), words, w, false, erode, last_bit);
    scratch[w] = erode ? row[w] & right & left : row[w] | right | left;
  }
  row.swap(scratch);
}

BitVolume by_rectangle(const BitVolume& mask, int ry, int rx, bool erode) {
  const auto [depth, height, width] = mask.shape_zyx();
  const std::int64_t words = mask.words_per_row();
  const int last_bit = static_cast<int>((width - 1) & 63);
  BitVolume along_x(mask.shape_zyx()), out(mask.shape_zyx());
  std::vector<std::uint64_t> row(static_cast<std::size_t>(words)), scratch(row.size());
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = 0; y < height; ++y) {
      std::copy_n(mask.row(z, y), words, row.begin());
      for (int r = 0; r < rx; ++r) step_x(row, scratch, erode, last_bit);
      row.back() &= mask.last_word_mask();
      std::copy(row.begin(), row.end(), along_x.row(z, y));
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

}  // namespace headrace::ingest
