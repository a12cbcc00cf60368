#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace headrace::pixels {

/// A mask of one bit a voxel, (z, y, x); rows start at whole words and bits beyond a row's end are
/// 0.
class BitVolume {
 public:
  explicit BitVolume(const std::array<std::int64_t, 3>& shape_zyx)
      : shape_(shape_zyx),
        words_((shape_zyx[2] + 63) / 64),
        bits_(static_cast<std::size_t>(shape_zyx[0] * shape_zyx[1] * words_)) {}

  const std::array<std::int64_t, 3>& shape_zyx() const noexcept { return shape_; }
  std::int64_t words_per_row() const noexcept { return words_; }
  std::uint64_t* row(std::int64_t z, std::int64_t y) {
    return bits_.data() + (z * shape_[1] + y) * words_;
  }
  const std::uint64_t* row(std::int64_t z, std::int64_t y) const {
    return bits_.data() + (z * shape_[1] + y) * words_;
  }
  bool get(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return row(z, y)[x >> 6] >> (x & 63) & 1;
  }
  /// The bits of the last word that belong to the row.
  std::uint64_t last_word_mask() const noexcept {
    const int used = static_cast<int>(shape_[2] & 63);
    return used == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
  }
  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : bits_) sum += static_cast<std::uint64_t>(std::popcount(word));
    return sum;
  }
  bool operator==(const BitVolume&) const = default;

 private:
  std::array<std::int64_t, 3> shape_;
  std::int64_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace headrace::pixels
