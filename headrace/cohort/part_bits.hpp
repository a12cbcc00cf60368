#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace headrace::cohort {

/// Which of the 256 parts of a block are set; part i is bit i % 64 of word i / 64.
struct PartBits {
  std::array<std::uint64_t, 4> words{};

  void set(std::uint32_t part) { words[part >> 6] |= std::uint64_t{1} << (part & 63); }
  bool test(std::uint32_t part) const { return (words[part >> 6] >> (part & 63) & 1) != 0; }
  std::uint32_t count() const {
    std::uint32_t sum = 0;
    for (const std::uint64_t word : words) sum += static_cast<std::uint32_t>(std::popcount(word));
    return sum;
  }
  /// The set part with `rank` set parts before it; rank < count(). At most ten steps, however many
  /// are set.
  std::uint32_t nth(std::uint32_t rank) const {
    std::size_t w = 0;
    std::uint32_t here = static_cast<std::uint32_t>(std::popcount(words[0]));
    while (rank >= here && w < 3) {
      rank -= here;
      here = static_cast<std::uint32_t>(std::popcount(words[++w]));
    }
    std::uint64_t word = words[w];
    std::uint32_t at = 0;
    for (std::uint32_t half = 32; half > 0; half /= 2) {
      const std::uint64_t low = word & ((std::uint64_t{1} << half) - 1);
      const auto below = static_cast<std::uint32_t>(std::popcount(low));
      if (rank < below) {
        word = low;
      } else {
        rank -= below;
        word >>= half;
        at += half;
      }
    }
    return static_cast<std::uint32_t>(w * 64) + at;
  }
  bool operator==(const PartBits&) const = default;
};

}  // namespace headrace::cohort
