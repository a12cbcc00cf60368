#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "headrace/math/bilinear.hpp"
#include "headrace/math/clamp.hpp"
#include "headrace/math/trigonometry.hpp"
#include "headrace/math/zip.hpp"

namespace headrace::math {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Clamp, NanBecomesTheLowerEndInEveryLane) {
  EXPECT_EQ(clamp_to(kNan, -3.0f, 7.0f), -3.0f);
  const v8f x{kNan, 1, kInf, -kInf, 7, -3, 8, -0.0f};
  const v8f got = clamp_to(x, -3.0f, 7.0f);
  const float expected[8] = {-3, 1, 7, -3, 7, -3, 7, -0.0f};
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(got[i], expected[i]) << i;
    EXPECT_EQ(bits_of(got[i]), bits_of(clamp_to(x[i], -3.0f, 7.0f))) << i;
  }
}

TEST(Clamp, IsDoneBeforeConversionSoThatHugeCoordinatesStayInside) {
  const PixelWindow w{nullptr, 0, 10.0f, 20.0f, 0, 0, 0, 0};
  for (const float wild : {1e30f, -1e30f, kInf, -kInf, kNan, 3e9f, -3e9f}) {
    const std::int32_t i = to_int(clamp_to(wild, 0.0f, w.x_limit));
    EXPECT_TRUE(i == 0 || i == 20) << wild;
    const v8i lanes = to_int(clamp_to(Memory<v8f>::splat(wild), 0.0f, w.x_limit));
    EXPECT_EQ(lanes[3], i) << wild;
  }
}

TEST(Clamp, FloorToIntRoundsDownOnBothSidesOfZero) {
  for (const float x : {-3.0f, -2.5f, -0.25f, -0.0f, 0.0f, 0.99f, 1.0f, 4194303.5f, -4194303.5f}) {
    EXPECT_EQ(floor_to_int(x), static_cast<std::int32_t>(std::floor(x))) << x;
  }
}

TEST(Lane, GatherReadsFourBytesAtAnyOffset) {
  std::uint8_t bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(255 - 3 * i);
  const v8i offsets{0, 1, 2, 3, 17, 30, 59, 60};
  const v8i words = gather32(bytes, offsets);
  for (int i = 0; i < 8; ++i) {
    std::int32_t expected;
    std::memcpy(&expected, bytes + offsets[i], 4);
    EXPECT_EQ(words[i], expected) << i;
    EXPECT_EQ(gather32(bytes, static_cast<std::int32_t>(offsets[i])), expected) << i;
  }
}

TEST(Lane, MaxAndMinAreOneComparisonAlsoOfNanAndZeros) {
  const v8f x{kNan, 1, 0.0f, -0.0f, kInf, -kInf, 2, -3}, y{1, kNan, -0.0f, 0.0f, kNan, 5, 3, -4};
  const v8f larger = max_of(x, y), smaller = min_of(x, y);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(bits_of(larger[i]), bits_of(x[i] > y[i] ? x[i] : y[i])) << i;
    EXPECT_EQ(bits_of(smaller[i]), bits_of(x[i] < y[i] ? x[i] : y[i])) << i;
    EXPECT_EQ(bits_of(larger[i]), bits_of(max_of(float{x[i]}, float{y[i]}))) << i;
    EXPECT_EQ(bits_of(smaller[i]), bits_of(min_of(float{x[i]}, float{y[i]}))) << i;
  }
}

TEST(Lane, ConversionsAndRootsAreThoseOfOneLane) {
  const v8f x{0.99f, -0.99f, -0.0f, 2147483520.0f, -2147483648.0f, 1e9f, -7.5f, 16777216.0f};
  const v8i i{0, -1, 16777217, -16777219, 2147483647, -2147483647 - 1, 33554435, 7};
  const v8i whole = to_int(x);
  const v8f broken = to_float(i), root = sqrt_of(max_of(x, Memory<v8f>::splat(0.0f)));
  for (int k = 0; k < 8; ++k) {
    EXPECT_EQ(whole[k], to_int(float{x[k]})) << k;
    EXPECT_EQ(broken[k], to_float(std::int32_t{i[k]})) << k;
    EXPECT_EQ(bits_of(root[k]), bits_of(sqrt_of(max_of(float{x[k]}, 0.0f)))) << k;
  }
}

TEST(Lane, GatheredPairsAreNeighbours) {
  float numbers[40];
  std::uint8_t bytes[80];
  for (int i = 0; i < 40; ++i) numbers[i] = 1.5f * static_cast<float>(i);
  for (int i = 0; i < 80; ++i) bytes[i] = static_cast<std::uint8_t>(251 - 3 * i);
  const v8i at{0, 38, 1, 37, 5, 5, 17, 30};
  v8f left, right;
  gather_pair(numbers, at, left, right);
  v8i first, second;
  gather_rgb_pair(bytes, at, first, second);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(left[i], numbers[at[i]]) << i;
    EXPECT_EQ(right[i], numbers[at[i] + 1]) << i;
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(first[i] >> 8 * k & 255, bytes[at[i] + k]) << i;
      EXPECT_EQ(second[i] >> 8 * k & 255, bytes[at[i] + 3 + k]) << i;
    }
  }
}

using v16b = std::uint8_t __attribute__((vector_size(16)));
using v32b = std::uint8_t __attribute__((vector_size(32)));

template <int kSize, bool kUpper, typename Bytes>
void expect_zipped() {
  constexpr int kWidth = sizeof(Bytes);
  Bytes a, b;
  for (int i = 0; i < kWidth; ++i) {
    a[i] = static_cast<std::uint8_t>(i);
    b[i] = static_cast<std::uint8_t>(100 + i);
  }
  const Bytes got = zip<kSize, kUpper>(a, b);
  for (int lane = 0, i = 0; lane < kWidth; lane += 16) {
    for (int from = lane + (kUpper ? 8 : 0), end = from + 8; from < end; from += kSize) {
      for (int k = 0; k < kSize; ++k) EXPECT_EQ(got[i++], from + k) << kSize << " " << kWidth;
      for (int k = 0; k < kSize; ++k) EXPECT_EQ(got[i++], 100 + from + k) << kSize << " " << kWidth;
    }
  }
}

template <int kSize>
void expect_zipped_everywhere() {
  expect_zipped<kSize, false, v16b>();
  expect_zipped<kSize, true, v16b>();
  expect_zipped<kSize, false, v32b>();
  expect_zipped<kSize, true, v32b>();
}

TEST(Lane, ZipInterleavesHalvesOfEachSixteenBytes) {
  expect_zipped_everywhere<1>();
  expect_zipped_everywhere<2>();
  expect_zipped_everywhere<4>();
  expect_zipped_everywhere<8>();
}

TEST(Lane, WideProductsMatchSixtyFourBitOnes) {
  const v8u a{0, 1, 0xFFFFFFFFu, 0x80000000u, 0x12345678u, 0xDEADBEEFu, 3, 0x7FFFFFFFu};
  v8u high, low;
  multiply_wide(a, 0xD2511F53u, high, low);
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t product = std::uint64_t{a[i]} * 0xD2511F53u;
    EXPECT_EQ(high[i], static_cast<std::uint32_t>(product >> 32)) << i;
    EXPECT_EQ(low[i], static_cast<std::uint32_t>(product)) << i;
  }
}

TEST(Bilinear, NanCoordinatesReadThePixelAtZero) {
  std::uint8_t rgb[2 * 2 * 3 + 4] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120};
  const PixelWindow w{rgb, 6, 1 - 1.0f / 128, 1 - 1.0f / 128, 0, 2, 0, 2};
  const auto v = bilinear_rgb<false>(w, kNan, kNan);
  EXPECT_EQ(v.r, 10);
  EXPECT_EQ(v.g, 20);
  EXPECT_EQ(v.b, 30);
}

/// Float32 keeps weights and products to 1e-7 of 255, four of them.
TEST(Bilinear, MatchesDouble) {
  std::uint8_t rgb[5 * 7 * 3 + 4];
  for (int i = 0; i < 5 * 7 * 3; ++i) rgb[i] = static_cast<std::uint8_t>(i * 97 + i * i * 13);
  const PixelWindow w{rgb, 21, 4 - 1.0f / 128, 6 - 1.0f / 128, 0, 5, 0, 7};
  double worst = 0;
  for (double y = 0; y < 3.99; y += 0.0137) {
    for (double x = 0; x < 5.99; x += 0.0171) {
      const auto fy = static_cast<float>(y), fx = static_cast<float>(x);
      const auto v = bilinear_rgb<true>(w, Memory<v8f>::splat(fy), Memory<v8f>::splat(fx));
      const int iy = static_cast<int>(fy), ix = static_cast<int>(fx);
      const double ty = double(fy) - iy, tx = double(fx) - ix;
      const std::uint8_t* p = rgb + iy * 21 + ix * 3 + 1;
      const double expected =
          (p[0] * (1 - tx) + p[3] * tx) * (1 - ty) + (p[21] * (1 - tx) + p[24] * tx) * ty;
      worst = std::max(worst, std::abs(v.g[5] - expected));
      EXPECT_EQ(bits_of(v.g[5]), bits_of(bilinear_rgb<false>(w, fy, fx).g));
    }
  }
  EXPECT_LT(worst, 1e-4);
}

TEST(Trigonometry, MatchesLibm) {
  for (double turns = -3; turns < 3; turns += 0.000937) {
    double sine, cosine;
    sine_cosine(turns, sine, cosine);
    const long double angle = static_cast<long double>(turns) * 6.283185307179586476925L;
    EXPECT_NEAR(sine, static_cast<double>(std::sin(angle)), 4e-16) << turns;
    EXPECT_NEAR(cosine, static_cast<double>(std::cos(angle)), 4e-16) << turns;
  }
}

TEST(Trigonometry, QuarterTurnsAreExact) {
  const double expected[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
  for (int quarter = -8; quarter < 8; ++quarter) {
    double sine, cosine;
    sine_cosine(quarter * 0.25, sine, cosine);
    EXPECT_EQ(sine, expected[quarter & 3][0]) << quarter;
    EXPECT_EQ(cosine, expected[quarter & 3][1]) << quarter;
  }
}

TEST(Lane, WordsFromAlignedLoadsAreTheBytesThere) {
  alignas(4) std::uint8_t bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(37 * i + 11);
  for (int at = 0; at < 48; ++at) {
    std::uint32_t expected[2], first, second;
    std::memcpy(expected, bytes + at, sizeof expected);
    load_words(bytes + at, first, second);
    EXPECT_EQ(first, expected[0]) << at;
    EXPECT_EQ(second, expected[1]) << at;
  }
}

/// Eight lanes and one: the same bits, in sums of products up to the ends of both ranges.
TEST(Lane, ProductSumsAreThoseOfSingleNumbers) {
  const v8s a{0, 1, -1, 32767, -32768, 12345, -12345, 32767};
  const v8s b{5, -3, 32767, 32767, -32768, -32768, 777, -32768};
  for (const std::int16_t factor : {0, 1, -7, 16384, -16384}) {
    const std::int16_t factors[2]{factor, static_cast<std::int16_t>(factor / 3)};
    for (const int bits : {0, 3, 15}) {
      auto lanes = ProductSums<v8s>::splat(16384);
      lanes.add(a, b, factors);
      lanes.add(b, v8s{}, factors);
      const v8s got = lanes.shifted(bits);
      for (int i = 0; i < 8; ++i) {
        auto one = ProductSums<std::int16_t>::splat(16384);
        one.add(a[i], b[i], factors);
        one.add(b[i], 0, factors);
        const std::int64_t sum =
            16384 + std::int64_t{a[i] + b[i]} * factors[0] + std::int64_t{b[i]} * factors[1];
        const std::int64_t limited = std::clamp<std::int64_t>(sum >> bits, -32768, 32767);
        EXPECT_EQ(one.shifted(bits), limited) << i << ", factor " << factor << ", bits " << bits;
        EXPECT_EQ(got[i], limited) << i << ", factor " << factor << ", bits " << bits;
      }
    }
  }
}

TEST(Lane, BytesAndShortsKeepTheirOrder) {
  const std::uint64_t bytes = to_bytes(v8i{0, 1, 127, 128, 254, 255, 3, 200});
  const int expected[8] = {0, 1, 127, 128, 254, 255, 3, 200};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(bytes >> (8 * i) & 255, expected[i]) << i;
  alignas(2) std::uint8_t memory[17];
  const std::int16_t shorts[8] = {0, -1, 32767, -32768, 258, -259, 7, -7};
  std::memcpy(memory + 1, shorts, sizeof shorts);
  const v8i words = to_int(Memory<v8f>::load_shorts(memory + 1, 8));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(words[i], shorts[i]) << i;
}

TEST(Lane, PartsOfAPackTouchNothingElse) {
  const float in[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int count = 0; count <= 9; ++count) {
    float floats[8] = {}, lanes[8];
    store_part(floats, Memory<v8f>::load(in), count);
    Memory<v8f>::store(lanes, Memory<v8f>::load_part(in, count));
    std::int16_t shorts[8] = {};
    store_part(shorts, v8s{1, 2, 3, 4, 5, 6, 7, 8}, count);
    std::uint8_t bytes[8] = {};
    store_part(bytes, to_bytes(v8i{1, 2, 3, 4, 5, 6, 7, 8}), count);
    for (int i = 0; i < 8; ++i) {
      const int expected = i < count ? i + 1 : 0;
      EXPECT_EQ(floats[i], static_cast<float>(expected)) << i << " of " << count;
      EXPECT_EQ(lanes[i], static_cast<float>(expected)) << i << " of " << count;
      EXPECT_EQ(shorts[i], expected) << i << " of " << count;
      EXPECT_EQ(bytes[i], expected) << i << " of " << count;
    }
  }
}

}  // namespace
}  // namespace headrace::math
