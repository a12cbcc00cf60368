#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "headrace/imaging/label_reader.hpp"

namespace headrace::imaging {

/// How a TIFF stores numbers (SampleFormat).
enum class SampleKind { unsigned_integer, signed_integer, floating };

template <typename T>
T stored_number(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// IEEE 754 binary16.
inline double half_number(const std::uint8_t* at) {
  const auto bits = stored_number<std::uint16_t>(at);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31  ? (fraction != 0 ? std::nan("") : HUGE_VAL)
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 != 0 ? -value : value;
}

/// A sample of 8 bits or more, in the machine's byte order.
inline double sample_number(const std::uint8_t* at, int bits, SampleKind kind) {
  switch (kind) {
    case SampleKind::floating:
      return bits == 16   ? half_number(at)
             : bits == 32 ? stored_number<float>(at)
                          : stored_number<double>(at);
    case SampleKind::signed_integer:
      return bits == 8    ? stored_number<std::int8_t>(at)
             : bits == 16 ? stored_number<std::int16_t>(at)
             : bits == 32 ? stored_number<std::int32_t>(at)
                          : static_cast<double>(stored_number<std::int64_t>(at));
    case SampleKind::unsigned_integer:
      break;
  }
  return bits == 8    ? *at
         : bits == 16 ? stored_number<std::uint16_t>(at)
         : bits == 32 ? stored_number<std::uint32_t>(at)
                      : static_cast<double>(stored_number<std::uint64_t>(at));
}

/// The label that a number stands for: the whole number within 1e-3, at most kMostLabel; nothing
/// for others and for those below 0.
inline std::optional<std::uint16_t> label_of_number(double number) {
  const double whole = std::round(number);
  if (!(std::abs(number - whole) <= 1e-3) || whole < 0) return std::nullopt;
  return whole > kMostLabel ? kMostLabel : static_cast<std::uint16_t>(whole);
}

}  // namespace headrace::imaging
