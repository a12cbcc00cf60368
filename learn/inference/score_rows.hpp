#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::inference {

/// Scores of 16 bits come from a canvas as two of a part's rows of bytes: the lower eight bits of
/// each pixel, then the upper ones.
inline constexpr std::size_t kScoreRows = 2;

/// The scores of such rows.
inline std::vector<std::uint16_t> scores_of_rows(std::span<const std::uint8_t> rows) {
  const std::size_t pixels = rows.size() / kScoreRows;
  std::vector<std::uint16_t> out(pixels);
  for (std::size_t i = 0; i < pixels; ++i)
    out[i] = static_cast<std::uint16_t>(rows[i] | rows[pixels + i] << 8);
  return out;
}

}  // namespace headrace::inference
