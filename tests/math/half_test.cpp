#include "headrace/math/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace headrace::math {
namespace {

float value_of_bfloat16(std::uint16_t h) { return float_of(as_signed(std::uint32_t{h} << 16)); }

/// IEEE 754 binary16 by its definition.
double value_of_float16(std::uint16_t h) {
  const int exponent = (h >> 10) & 31, fraction = h & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                       : std::ldexp(1024 + fraction, exponent - 25);
  return (h & 0x8000) != 0 ? -size : size;
}

/// Every half, and what lies between it and the next: the middle goes to the even one, a float to
/// either side of the middle to its own.
template <typename Value, typename Bits>
void check_every_gap(const Value& value_of, const Bits& bits_of_half, std::uint16_t largest) {
  for (std::uint32_t h = 0; h < largest; ++h) {
    const auto low = static_cast<double>(value_of(static_cast<std::uint16_t>(h)));
    const auto high = static_cast<double>(value_of(static_cast<std::uint16_t>(h + 1)));
    const auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(middle), (low + high) / 2) << h;
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const float s = sign == 0 ? 1.0f : -1.0f;
      ASSERT_EQ(bits_of_half(s * static_cast<float>(low)), h | sign);
      ASSERT_EQ(bits_of_half(s * middle), (h % 2 == 0 ? h : h + 1) | sign) << h;
      ASSERT_EQ(bits_of_half(s * std::nextafter(middle, 0.0f)), h | sign) << h;
      ASSERT_EQ(bits_of_half(s * std::nextafter(middle, INFINITY)), (h + 1) | sign) << h;
    }
  }
}

TEST(Half, EveryFloat16IsTheNearest) {
  check_every_gap(
      value_of_float16, [](float x) { return float16_bits(x); }, 0x7BFF);
  EXPECT_EQ(float16_bits(65519.996f), 0x7BFF);
  EXPECT_EQ(float16_bits(65520.0f), 0x7C00);
  EXPECT_EQ(float16_bits(1e30f), 0x7C00);
  EXPECT_EQ(float16_bits(-INFINITY), 0xFC00);
  EXPECT_TRUE(std::isnan(value_of_float16(float16_bits(NAN))));
}

TEST(Half, EveryNormalBfloat16IsTheNearest) {
  for (std::uint32_t h = 0x0080; h < 0x7F7F; ++h) {
    const float low = value_of_bfloat16(static_cast<std::uint16_t>(h));
    const float middle = float_of(as_signed((h << 16) | 0x8000u));
    ASSERT_EQ(bfloat16_bits(low), h);
    ASSERT_EQ(bfloat16_bits(middle), h % 2 == 0 ? h : h + 1);
    ASSERT_EQ(bfloat16_bits(std::nextafter(middle, 0.0f)), h);
    ASSERT_EQ(bfloat16_bits(-std::nextafter(middle, INFINITY)), (h + 1) | 0x8000);
  }
  EXPECT_EQ(bfloat16_bits(0.0f), 0);
  EXPECT_EQ(bfloat16_bits(INFINITY), 0x7F80);
  EXPECT_EQ(bfloat16_bits(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(value_of_bfloat16(bfloat16_bits(NAN))));
}

}  // namespace
}  // namespace headrace::math
