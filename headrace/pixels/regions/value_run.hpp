#pragma once
#include <bitset>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headrace::pixels {

/// No place in a list: of a region, a corner.
inline constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int16_t kUntraced = -1;

/// Pixels x0 … x1 - 1 of one row, of one value.
struct ValueRun {
  std::int32_t x0 = 0, x1 = 0;
  std::int16_t value = kUntraced;
  std::uint32_t region = kNowhere;
  /// Of the outline that goes up at its left side, the first corner so far, and of the one that
  /// comes down at its right side, the last. Both end at its lower corners.
  std::uint32_t left = kNowhere, right = kNowhere;

  bool traced() const { return value != kUntraced; }
};

/// The runs of a row, from left to right and without gaps; neighbours that are not traced are one.
void find_runs(std::span<const std::uint8_t> values, const std::bitset<256>& traced,
               std::vector<ValueRun>& runs);

}  // namespace headrace::pixels
