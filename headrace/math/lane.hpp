#pragma once
/// Lane types: the kernels are written once over F = float (CUDA, plain C++) and F = v8f (eight
/// floats, CPU; lane16.hpp has sixteen for AVX-512). Every operation is IEEE + - * / sqrt, a
/// comparison, or an integer one, so all give the same bits, on x86-64 and on ARM. Kernels know no
/// instruction set: what has to be named for one is here.
#include <cstdint>

#include "headrace/math/hd.hpp"
#if defined(__CUDACC__)
#elif defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace headrace::math {

#if !defined(__CUDACC__)
using v8f = float __attribute__((vector_size(32)));
using v8i = std::int32_t __attribute__((vector_size(32)));
using v8u = std::uint32_t __attribute__((vector_size(32)));
using v8s = std::int16_t __attribute__((vector_size(16)));
using v4f = float __attribute__((vector_size(16)));
using v4i = std::int32_t __attribute__((vector_size(16)));
using v2l = std::uint64_t __attribute__((vector_size(16)));
#endif

/// The integer types that go with a lane type.
template <typename F>
struct Lane;
template <>
struct Lane<float> {
  using I = std::int32_t;
  using U = std::uint32_t;
  static constexpr int kCount = 1;
};
#if !defined(__CUDACC__)
template <>
struct Lane<v8f> {
  using I = v8i;
  using U = v8u;
  using S = v8s;
  static constexpr int kCount = 8;
};
#endif
template <typename F>
using IntOf = typename Lane<F>::I;
template <typename F>
using UintOf = typename Lane<F>::U;
template <typename F>
using ShortsOf = typename Lane<F>::S;

/// Lanes of the widest type: rows of memory that packs are read from have room for as many more.
inline constexpr int kMostLanes = 16;
/// Columns that share blocks of noise, eight of each block one after the other (noise_kernel.hpp).
inline constexpr int kNoiseGroup = 32;

// ---- one lane --------------------------------------------------------------------------------

/// Rounds towards zero. The value must lie in the range of int32: outside of it, and of NaN, x86
/// gives the lowest number, ARM and CUDA the nearest one and 0. So clamp first.
HR_HD std::int32_t to_int(float x) { return static_cast<std::int32_t>(x); }
HR_HD float to_float(std::int32_t x) { return static_cast<float>(x); }
HR_HD std::int32_t bits_of(float x) { return __builtin_bit_cast(std::int32_t, x); }
HR_HD float float_of(std::int32_t x) { return __builtin_bit_cast(float, x); }
HR_HD std::int32_t as_signed(std::uint32_t x) { return static_cast<std::int32_t>(x); }
HR_HD std::uint32_t as_unsigned(std::int32_t x) { return static_cast<std::uint32_t>(x); }
HR_HD float select(bool mask, float yes, float no) { return mask ? yes : no; }
HR_HD std::int32_t select(bool mask, std::int32_t yes, std::int32_t no) { return mask ? yes : no; }
HR_HD float sqrt_of(float x) { return __builtin_sqrtf(x); }
/// The larger or smaller of two; the second where either is NaN.
HR_HD float max_of(float x, float y) { return x > y ? x : y; }
HR_HD float min_of(float x, float y) { return x < y ? x : y; }

/// The bytes at p … p + 7 as two words, lowest address in the lowest byte, from the three aligned
/// words around them: a GPU loads those, but not unaligned ones. Reads up to 11 bytes after p.
HR_HD void load_words(const std::uint8_t* p, std::uint32_t& first, std::uint32_t& second) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  const auto* words = reinterpret_cast<const std::uint32_t*>(at & ~std::uintptr_t{3});
  const auto bits = static_cast<std::uint32_t>(at & 3) * 8;
  const auto shifted = [bits](std::uint32_t low, std::uint32_t high) HR_LAMBDA {
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> bits);
  };
  first = shifted(words[0], words[1]);
  second = shifted(words[1], words[2]);
}

/// Loads four bytes at each byte offset, lowest address in the lowest byte. Offsets need no
/// alignment.
HR_HD std::int32_t gather32(const std::uint8_t* base, std::int32_t offset) {
#if defined(__CUDA_ARCH__)
  std::uint32_t first, second;
  load_words(base + offset, first, second);
  return static_cast<std::int32_t>(first);
#else
  const std::uint8_t* p = base + offset;
  return static_cast<std::int32_t>(std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 |
                                   std::uint32_t{p[2]} << 16 | std::uint32_t{p[3]} << 24);
#endif
}

/// Loads the two RGB24 pixels that begin at each byte offset, one a word; the fourth byte of a word
/// has no meaning. Reads eight bytes at each offset, on a GPU twelve.
HR_HD void gather_rgb_pair(const std::uint8_t* base, std::int32_t offset, std::int32_t& first,
                           std::int32_t& second) {
#if defined(__CUDA_ARCH__)
  std::uint32_t low, high;
  load_words(base + offset, low, high);
  first = static_cast<std::int32_t>(low);
  second = static_cast<std::int32_t>(low >> 24 | high << 8);
#else
  first = gather32(base, offset);
  second = gather32(base, offset + 3);
#endif
}

/// The two numbers that begin at each index.
HR_HD void gather_pair(const float* base, std::int32_t index, float& first, float& second) {
  first = base[index];
  second = base[index + 1];
}

/// The two halves of the 64-bit product a · factor.
HR_HD void multiply_wide(std::uint32_t a, std::uint32_t factor, std::uint32_t& high,
                         std::uint32_t& low) {
  const std::uint64_t product = std::uint64_t{a} * factor;
  high = static_cast<std::uint32_t>(product >> 32);
  low = static_cast<std::uint32_t>(product);
}

template <typename F>
struct Memory;
template <>
struct Memory<float> {
  static HR_HD float load(const float* p) { return *p; }
  static HR_HD void store(float* p, float x) { *p = x; }
  static HR_HD float iota() { return 0.0f; }  ///< index of each lane
  static HR_HD float splat(float x) { return x; }
};

// ---- eight lanes -----------------------------------------------------------------------------
#if !defined(__CUDACC__)

/// Registers of 16 bytes hold a pack in two. A union is what GCC keeps in registers on ARM.
template <typename Pack, typename Half>
union Halves {
  Pack whole;
  Half half[2];
};
template <typename Pack, typename Half>
HR_HD Pack joined(Half low, Half high) {
  Halves<Pack, Half> h;
  h.half[0] = low;
  h.half[1] = high;
  return h.whole;
}

#if defined(__ARM_NEON)
// GCC converts packs of two registers number by number there.
HR_HD v8i to_int(v8f x) {
  const Halves<v8f, v4f> h{x};
  return joined<v8i>(__builtin_convertvector(h.half[0], v4i),
                     __builtin_convertvector(h.half[1], v4i));
}
HR_HD v8f to_float(v8i x) {
  const Halves<v8i, v4i> h{x};
  return joined<v8f>(__builtin_convertvector(h.half[0], v4f),
                     __builtin_convertvector(h.half[1], v4f));
}
#else
HR_HD v8i to_int(v8f x) { return __builtin_convertvector(x, v8i); }
HR_HD v8f to_float(v8i x) { return __builtin_convertvector(x, v8f); }
#endif
HR_HD v8i bits_of(v8f x) { return reinterpret_cast<v8i>(x); }
HR_HD v8f float_of(v8i x) { return reinterpret_cast<v8f>(x); }
HR_HD v8i as_signed(v8u x) { return reinterpret_cast<v8i>(x); }
HR_HD v8u as_unsigned(v8i x) { return reinterpret_cast<v8u>(x); }
HR_HD v8f select(v8i mask, v8f yes, v8f no) { return mask ? yes : no; }
HR_HD v8i select(v8i mask, v8i yes, v8i no) { return mask ? yes : no; }

// Exactly x > y ? x : y and x < y ? x : y, also for NaN and zeros. x86's max and min are just that.
// ARM's are not: they give NaN where either is, and tell zeros apart.
#if defined(__AVX__)
HR_HD v8f sqrt_of(v8f x) { return _mm256_sqrt_ps(x); }
HR_HD v8f max_of(v8f x, v8f y) { return _mm256_max_ps(x, y); }
HR_HD v8f min_of(v8f x, v8f y) { return _mm256_min_ps(x, y); }
#else
#if defined(__SSE2__)
HR_HD v4f sqrt_of(v4f x) { return _mm_sqrt_ps(x); }
HR_HD v4f max_of(v4f x, v4f y) { return _mm_max_ps(x, y); }
HR_HD v4f min_of(v4f x, v4f y) { return _mm_min_ps(x, y); }
#else
HR_HD v4f sqrt_of(v4f x) { return vsqrtq_f32(x); }
HR_HD v4f max_of(v4f x, v4f y) { return x > y ? x : y; }
HR_HD v4f min_of(v4f x, v4f y) { return x < y ? x : y; }
#endif
HR_HD v8f sqrt_of(v8f x) {
  const Halves<v8f, v4f> h{x};
  return joined<v8f>(sqrt_of(h.half[0]), sqrt_of(h.half[1]));
}
HR_HD v8f max_of(v8f x, v8f y) {
  const Halves<v8f, v4f> a{x}, b{y};
  return joined<v8f>(max_of(a.half[0], b.half[0]), max_of(a.half[1], b.half[1]));
}
HR_HD v8f min_of(v8f x, v8f y) {
  const Halves<v8f, v4f> a{x}, b{y};
  return joined<v8f>(min_of(a.half[0], b.half[0]), min_of(a.half[1], b.half[1]));
}
#endif

// One load a lane: the hardware gather runs as microcode on many CPUs and takes longer there.
HR_HD v8i gather32(const std::uint8_t* base, v8i offset) {
#if defined(__AVX2__)
  alignas(32) std::int32_t at[8];
  __builtin_memcpy(at, &offset, sizeof at);
  const auto word = [&](int i) HR_LAMBDA {
    std::int32_t w;
    __builtin_memcpy(&w, base + at[i], sizeof w);
    return w;
  };
  __m128i a = _mm_cvtsi32_si128(word(0)), b = _mm_cvtsi32_si128(word(4));
  a = _mm_insert_epi32(a, word(1), 1);
  b = _mm_insert_epi32(b, word(5), 1);
  a = _mm_insert_epi32(a, word(2), 2);
  b = _mm_insert_epi32(b, word(6), 2);
  a = _mm_insert_epi32(a, word(3), 3);
  b = _mm_insert_epi32(b, word(7), 3);
  return reinterpret_cast<v8i>(_mm256_set_m128i(b, a));
#else
  v8i words;
  for (int i = 0; i < 8; ++i) {
    std::int32_t word;
    __builtin_memcpy(&word, base + offset[i], sizeof word);
    words[i] = word;
  }
  return words;
#endif
}

/// Eight bytes at each of two offsets. One load for both pixels: half the loads of two hardware
/// gathers, which also run as microcode on many CPUs.
HR_HD v2l load_two(const std::uint8_t* base, std::int32_t a, std::int32_t b) {
#if defined(__SSE2__)
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(base + a));
  return reinterpret_cast<v2l>(
      _mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(base + b)));
#else
  return v2l{vget_lane_u64(vreinterpret_u64_u8(vld1_u8(base + a)), 0),
             vget_lane_u64(vreinterpret_u64_u8(vld1_u8(base + b)), 0)};
#endif
}
HR_HD void gather_rgb_pair(const std::uint8_t* base, v8i offset, v8i& first, v8i& second) {
  alignas(32) std::int32_t at[8];
  __builtin_memcpy(at, &offset, sizeof at);
#if defined(__AVX2__)
  // Lanes 0 1 4 5 and 2 3 6 7, so that the shuffle below, which works on halves, puts them in
  // order.
  const auto four = [&](int i) HR_LAMBDA {
    return _mm256_set_m128i(reinterpret_cast<__m128i>(load_two(base, at[i + 4], at[i + 5])),
                            reinterpret_cast<__m128i>(load_two(base, at[i], at[i + 1])));
  };
  const __m256i a = four(0), b = four(2);
  const auto low_words = [](__m256i x, __m256i y) HR_LAMBDA {
    return reinterpret_cast<v8i>(
        _mm256_shuffle_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y), 0x88));
  };
  first = low_words(a, b);
  second = low_words(_mm256_srli_epi64(a, 24), _mm256_srli_epi64(b, 24));
#else
  v4i f[2], s[2];
  const auto low_words = [](v2l x, v2l y) HR_LAMBDA {
    return __builtin_shufflevector(reinterpret_cast<v4i>(x), reinterpret_cast<v4i>(y), 0, 2, 4, 6);
  };
  for (int i = 0; i < 2; ++i) {
    const v2l a = load_two(base, at[4 * i], at[4 * i + 1]);
    const v2l b = load_two(base, at[4 * i + 2], at[4 * i + 3]);
    f[i] = low_words(a, b);
    s[i] = low_words(a >> 24, b >> 24);
  }
  first = joined<v8i>(f[0], f[1]);
  second = joined<v8i>(s[0], s[1]);
#endif
}
HR_HD void gather_pair(const float* base, v8i index, v8f& first, v8f& second) {
  alignas(32) std::int32_t at[8];
  const v8i offset = index * 4;
  __builtin_memcpy(at, &offset, sizeof at);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(base);
#if defined(__AVX2__)
  // Lanes 0 1 4 5 and 2 3 6 7, as above.
  const auto four = [&](int i) HR_LAMBDA {
    return _mm256_set_m128(reinterpret_cast<v4f>(load_two(bytes, at[i + 4], at[i + 5])),
                           reinterpret_cast<v4f>(load_two(bytes, at[i], at[i + 1])));
  };
  const __m256 a = four(0), b = four(2);
  first = _mm256_shuffle_ps(a, b, 0x88);
  second = _mm256_shuffle_ps(a, b, 0xDD);
#else
  v4f f[2], s[2];
  for (int i = 0; i < 2; ++i) {
    const auto a = reinterpret_cast<v4f>(load_two(bytes, at[4 * i], at[4 * i + 1]));
    const auto b = reinterpret_cast<v4f>(load_two(bytes, at[4 * i + 2], at[4 * i + 3]));
    f[i] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    s[i] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
  }
  first = joined<v8f>(f[0], f[1]);
  second = joined<v8f>(s[0], s[1]);
#endif
}

HR_HD void multiply_wide(v8u a, std::uint32_t factor, v8u& high, v8u& low) {
#if defined(__AVX2__)
  const __m256i x = reinterpret_cast<__m256i>(a);
  const __m256i f = _mm256_set1_epi32(static_cast<int>(factor));
  const __m256i even = _mm256_mul_epu32(x, f);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), f);
  low = reinterpret_cast<v8u>(_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA));
  high = reinterpret_cast<v8u>(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
#elif defined(__ARM_NEON)
  const Halves<v8u, uint32x4_t> x{a};
  uint32x4_t h[2], l[2];
  for (int i = 0; i < 2; ++i) {
    const auto front = vreinterpretq_u32_u64(vmull_n_u32(vget_low_u32(x.half[i]), factor));
    const auto back = vreinterpretq_u32_u64(vmull_high_n_u32(x.half[i], factor));
    l[i] = vuzp1q_u32(front, back);
    h[i] = vuzp2q_u32(front, back);
  }
  high = joined<v8u>(h[0], h[1]);
  low = joined<v8u>(l[0], l[1]);
#else
  struct Words {
    __m128i half[2];
  };
  const Words x = __builtin_bit_cast(Words, a);
  const __m128i f = _mm_set1_epi32(static_cast<int>(factor));
  const __m128i low_mask = _mm_set1_epi64x(0xFFFFFFFF);
  Words h, l;
  for (int i = 0; i < 2; ++i) {
    const __m128i even = _mm_mul_epu32(x.half[i], f);
    const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(x.half[i], 32), f);
    l.half[i] = _mm_or_si128(_mm_and_si128(even, low_mask), _mm_slli_epi64(odd, 32));
    h.half[i] = _mm_or_si128(_mm_srli_epi64(even, 32), _mm_andnot_si128(low_mask, odd));
  }
  high = __builtin_bit_cast(v8u, h);
  low = __builtin_bit_cast(v8u, l);
#endif
}

template <>
struct Memory<v8f> {
  static HR_HD v8f load(const float* p) {
    v8f x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
  /// Reads no more than `count` floats; the lanes after them are 0.
  static HR_HD v8f load_part(const float* p, std::int32_t count) {
    if (count >= 8) return load(p);
    float lanes[8] = {};
    for (std::int32_t i = 0; i < count; ++i) lanes[i] = p[i];
    return load(lanes);
  }
  /// `count` 16-bit numbers from any address; reads eight.
  static HR_HD v8s load_shorts(const void* p, std::int32_t) {
    v8s x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
  static HR_HD void store(float* p, v8f x) { __builtin_memcpy(p, &x, sizeof x); }
  /// The same of lanes that are the noise of as many groups of columns as they hold eight.
  static HR_HD v8f load_groups(const float* p) { return load(p); }
  static HR_HD void store_groups(float* p, v8f x) { store(p, x); }
  static HR_HD v8f iota() { return v8f{0, 1, 2, 3, 4, 5, 6, 7}; }
  /// Number of each lane's block of noise, of groups with this many blocks.
  static HR_HD v8u index_of_groups(std::uint32_t) { return v8u{0, 1, 2, 3, 4, 5, 6, 7}; }
  static HR_HD v8f splat(float x) { return v8f{x, x, x, x, x, x, x, x}; }
};
#endif

// ---- 16-bit numbers and bytes ----------------------------------------------------------------

/// Sums of products of 16-bit numbers in 32 bits, one a lane of S.
template <typename S>
struct ProductSums;
template <>
struct ProductSums<std::int16_t> {
  std::int32_t sum;

  static HR_HD ProductSums splat(std::int32_t x) { return {x}; }
  /// Adds a · factors[0] + b · factors[1]: vector units form products in pairs.
  HR_HD void add(std::int16_t a, std::int16_t b, const std::int16_t* factors) {
    sum += a * factors[0] + b * factors[1];
  }
  /// Without the lowest `bits` bits, limited to 16.
  HR_HD std::int16_t shifted(int bits) const {
    const std::int32_t x = sum >> bits;
    return static_cast<std::int16_t>(x < -32768 ? -32768 : (x > 32767 ? 32767 : x));
  }
};

#if !defined(__CUDACC__)
HR_HD v8i to_int(v8s x) { return __builtin_convertvector(x, v8i); }

#if defined(__SSE2__)
template <>
struct ProductSums<v8s> {
  __m128i low, high;

  static HR_HD ProductSums splat(std::int32_t x) { return {_mm_set1_epi32(x), _mm_set1_epi32(x)}; }
  HR_HD void add(v8s a, v8s b, const std::int16_t* factors) {
    std::int32_t pair;
    __builtin_memcpy(&pair, factors, sizeof pair);
    const __m128i f = _mm_set1_epi32(pair);
    const __m128i x = reinterpret_cast<__m128i>(a), y = reinterpret_cast<__m128i>(b);
    low = _mm_add_epi32(low, _mm_madd_epi16(_mm_unpacklo_epi16(x, y), f));
    high = _mm_add_epi32(high, _mm_madd_epi16(_mm_unpackhi_epi16(x, y), f));
  }
  HR_HD v8s shifted(int bits) const {
    return reinterpret_cast<v8s>(
        _mm_packs_epi32(_mm_srai_epi32(low, bits), _mm_srai_epi32(high, bits)));
  }
};
/// Eight numbers of 0 to 255 as bytes, the first lowest.
HR_HD std::uint64_t to_bytes(v8i x) {
#if defined(__AVX2__)
  const auto words = reinterpret_cast<__m256i>(x);
  const __m128i shorts =
      _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
#else
  struct Words {
    __m128i low, high;
  };
  const Words words = __builtin_bit_cast(Words, x);
  const __m128i shorts = _mm_packs_epi32(words.low, words.high);
#endif
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(shorts, shorts)));
}
#else
template <>
struct ProductSums<v8s> {
  v8i sum;

  static HR_HD ProductSums splat(std::int32_t x) { return {v8i{} + x}; }
  HR_HD void add(v8s a, v8s b, const std::int16_t* factors) {
    sum += to_int(a) * factors[0] + to_int(b) * factors[1];
  }
  HR_HD v8s shifted(int bits) const {
    const v8i x = sum >> bits, least = v8i{} - 32768, most = v8i{} + 32767;
    return __builtin_convertvector(select(x < least, least, select(x > most, most, x)), v8s);
  }
};
HR_HD std::uint64_t to_bytes(v8i x) {
  using v8b = std::uint8_t __attribute__((vector_size(8)));
  return __builtin_bit_cast(std::uint64_t, __builtin_convertvector(x, v8b));
}
#endif

/// Eight floats, eight 16-bit numbers, or what to_bytes gives.
template <typename T, typename Lanes>
HR_HD void store_all(T* p, Lanes x) {
  static_assert(sizeof x == 8 * sizeof *p);
  __builtin_memcpy(p, &x, sizeof x);
}
/// The first `count` of them, all where there are no more. Each path stores a copy of its own: a
/// compiler keeps a value whose address two of them take in memory.
template <typename T, typename Lanes>
HR_HD void store_part(T* p, Lanes x, std::int32_t count) {
  if (count >= 8) {
    store_all(p, x);
    return;
  }
  T lanes[8];
  store_all(lanes, x);
  for (std::int32_t i = 0; i < count; ++i) p[i] = lanes[i];
}
#endif

}  // namespace headrace::math

#if !defined(__CUDACC__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "headrace/math/lane16.hpp"
#endif

#if !defined(__CUDACC__)
namespace headrace::math {

/// What a CPU driver takes rows in: the widest type of the instruction set that it is compiled for.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
using Widest = v16f;
#else
using Widest = v8f;
#endif

}  // namespace headrace::math
#endif
