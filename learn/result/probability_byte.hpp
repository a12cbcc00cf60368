#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::result {

/// A probability in steps of 1/255, as results hold it, rounded to the nearest; values outside 0..1
/// become 0 or 1, and NaN becomes 0.
inline std::uint8_t probability_byte(float probability) {
  // In this order of operands minimum and maximum of x86-64 give the number if one is NaN.
  const float above = probability > 0.0f ? probability : 0.0f;
  const float inside = above < 1.0f ? above : 1.0f;
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(inside * 255.0f + 0.5f));
}

/// Of many; `out` has the same size.
inline void probability_bytes(std::span<const float> probabilities, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = probability_byte(probabilities[i]);
}

}  // namespace headrace::result
