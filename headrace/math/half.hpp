#pragma once
#include <cstdint>

#include "headrace/math/lane.hpp"

namespace headrace::math {

/// The nearest bfloat16, ties to even: the upper half of the float's bits.
///
/// source  Intel, BFLOAT16 Hardware Numerics Definition, 2018
/// NaN     a quiet NaN of the same sign; infinities stay
HR_HD std::uint16_t bfloat16_bits(float x) {
  const std::uint32_t u = as_unsigned(bits_of(x));
  if ((u & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((u >> 16) | 0x0040u);
  return static_cast<std::uint16_t>((u + 0x7FFFu + ((u >> 16) & 1u)) >> 16);
}

/// The nearest IEEE 754 binary16, ties to even; from 65520 on infinity.
///
/// NaN     a quiet NaN of the same sign
HR_HD std::uint16_t float16_bits(float x) {
  const std::uint32_t u = as_unsigned(bits_of(x));
  const std::uint32_t sign = (u >> 16) & 0x8000u;
  const std::uint32_t size = u & 0x7FFFFFFFu;
  std::uint32_t half;
  if (size >= 0x47800000u) {  // 65536 and more, infinity and NaN
    half = size > 0x7F800000u ? 0x7E00u : 0x7C00u;
  } else if (size < 0x38800000u) {
    // Below 2^-14 a half counts in steps of 2^-24, as a float between 0.5 and 1 does: the addition
    // rounds.
    half = as_unsigned(bits_of(float_of(as_signed(size)) + 0.5f)) - 0x3F000000u;
  } else {
    half = (size - (112u << 23) + 0x0FFFu + ((size >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace headrace::math
