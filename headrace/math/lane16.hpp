#pragma once
/// Sixteen lanes, for CPUs with AVX-512: what lane.hpp, which includes this, has for eight. Lanes are
/// gathered as there, eight at a time: hardware gathers are slow on many CPUs.
#include <cstdint>

#include "headrace/math/lane.hpp"  // include that one

namespace headrace::math {

using v16f = float __attribute__((vector_size(64)));
using v16i = std::int32_t __attribute__((vector_size(64)));
using v16u = std::uint32_t __attribute__((vector_size(64)));
using v16s = std::int16_t __attribute__((vector_size(32)));

template <>
struct Lane<v16f> {
  using I = v16i;
  using U = v16u;
  using S = v16s;
  static constexpr int kCount = 16;
};

HR_HD v16i to_int(v16f x) { return __builtin_convertvector(x, v16i); }
HR_HD v16f to_float(v16i x) { return __builtin_convertvector(x, v16f); }
HR_HD v16i bits_of(v16f x) { return reinterpret_cast<v16i>(x); }
HR_HD v16f float_of(v16i x) { return reinterpret_cast<v16f>(x); }
HR_HD v16i as_signed(v16u x) { return reinterpret_cast<v16i>(x); }
HR_HD v16u as_unsigned(v16i x) { return reinterpret_cast<v16u>(x); }
HR_HD v16f select(v16i mask, v16f yes, v16f no) { return mask ? yes : no; }
HR_HD v16i select(v16i mask, v16i yes, v16i no) { return mask ? yes : no; }
HR_HD v16f sqrt_of(v16f x) { return _mm512_sqrt_ps(x); }
HR_HD v16f max_of(v16f x, v16f y) { return _mm512_max_ps(x, y); }
HR_HD v16f min_of(v16f x, v16f y) { return _mm512_min_ps(x, y); }

// ---- halves ----------------------------------------------------------------------------------

HR_HD v8i low_of(v16i x) {
  return reinterpret_cast<v8i>(_mm512_castsi512_si256(reinterpret_cast<__m512i>(x)));
}
HR_HD v8i high_of(v16i x) {
  return reinterpret_cast<v8i>(_mm512_extracti64x4_epi64(reinterpret_cast<__m512i>(x), 1));
}
HR_HD v8f low_of(v16f x) { return reinterpret_cast<v8f>(low_of(reinterpret_cast<v16i>(x))); }
HR_HD v8f high_of(v16f x) { return reinterpret_cast<v8f>(high_of(reinterpret_cast<v16i>(x))); }
HR_HD v16i both(v8i low, v8i high) {
  return reinterpret_cast<v16i>(_mm512_inserti64x4(
      _mm512_castsi256_si512(reinterpret_cast<__m256i>(low)), reinterpret_cast<__m256i>(high), 1));
}
HR_HD v16f both(v8f low, v8f high) {
  return reinterpret_cast<v16f>(both(reinterpret_cast<v8i>(low), reinterpret_cast<v8i>(high)));
}

HR_HD v16i gather32(const std::uint8_t* base, v16i offset) {
  return both(gather32(base, low_of(offset)), gather32(base, high_of(offset)));
}
HR_HD void gather_rgb_pair(const std::uint8_t* base, v16i offset, v16i& first, v16i& second) {
  v8i f[2], s[2];
  gather_rgb_pair(base, low_of(offset), f[0], s[0]);
  gather_rgb_pair(base, high_of(offset), f[1], s[1]);
  first = both(f[0], f[1]);
  second = both(s[0], s[1]);
}
HR_HD void gather_pair(const float* base, v16i index, v16f& first, v16f& second) {
  v8f f[2], s[2];
  gather_pair(base, low_of(index), f[0], s[0]);
  gather_pair(base, high_of(index), f[1], s[1]);
  first = both(f[0], f[1]);
  second = both(s[0], s[1]);
}

HR_HD void multiply_wide(v16u a, std::uint32_t factor, v16u& high, v16u& low) {
  constexpr __mmask16 kOdd = 0xAAAA;
  const __m512i x = reinterpret_cast<__m512i>(a);
  const __m512i f = _mm512_set1_epi32(static_cast<int>(factor));
  const __m512i even = _mm512_mul_epu32(x, f);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), f);
  low = reinterpret_cast<v16u>(_mm512_mask_blend_epi32(kOdd, even, _mm512_slli_epi64(odd, 32)));
  high = reinterpret_cast<v16u>(_mm512_mask_blend_epi32(kOdd, _mm512_srli_epi64(even, 32), odd));
}

// ---- memory ----------------------------------------------------------------------------------

/// The first `count` lanes, 0 or more.
HR_HD __mmask16 lanes_before(std::int32_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFFu : (1u << count) - 1u);
}

template <>
struct Memory<v16f> {
  static HR_HD v16f load(const float* p) { return _mm512_loadu_ps(p); }
  static HR_HD v16f load_part(const float* p, std::int32_t count) {
    return _mm512_maskz_loadu_ps(lanes_before(count), p);
  }
  /// Reads no more than `count` numbers.
  static HR_HD v16s load_shorts(const void* p, std::int32_t count) {
    return reinterpret_cast<v16s>(_mm256_maskz_loadu_epi16(lanes_before(count), p));
  }
  static HR_HD void store(float* p, v16f x) { _mm512_storeu_ps(p, x); }
  static HR_HD v16f load_groups(const float* p) {
    return both(Memory<v8f>::load(p), Memory<v8f>::load(p + kNoiseGroup));
  }
  static HR_HD void store_groups(float* p, v16f x) {
    Memory<v8f>::store(p, low_of(x));
    Memory<v8f>::store(p + kNoiseGroup, high_of(x));
  }
  static HR_HD v16f iota() { return v16f{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
  static HR_HD v16u index_of_groups(std::uint32_t blocks) {
    const v16u within{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    return within + v16u{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1} * blocks;
  }
  static HR_HD v16f splat(float x) { return _mm512_set1_ps(x); }
};

HR_HD void store_part(float* p, v16f x, std::int32_t count) {
  _mm512_mask_storeu_ps(p, lanes_before(count), x);
}
HR_HD void store_part(std::int16_t* p, v16s x, std::int32_t count) {
  _mm256_mask_storeu_epi16(p, lanes_before(count), reinterpret_cast<__m256i>(x));
}
/// What to_bytes gives.
HR_HD void store_part(std::uint8_t* p, __m128i x, std::int32_t count) {
  _mm_mask_storeu_epi8(p, lanes_before(count), x);
}

// ---- 16-bit numbers and bytes ----------------------------------------------------------------

HR_HD v16i to_int(v16s x) {
  return reinterpret_cast<v16i>(_mm512_cvtepi16_epi32(reinterpret_cast<__m256i>(x)));
}
/// Sixteen numbers of 0 to 255 as bytes, the first lowest.
HR_HD __m128i to_bytes(v16i x) { return _mm512_cvtepi32_epi8(reinterpret_cast<__m512i>(x)); }

template <>
struct ProductSums<v16s> {
  __m256i low, high;

  static HR_HD ProductSums splat(std::int32_t x) {
    return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
  }
  HR_HD void add(v16s a, v16s b, const std::int16_t* factors) {
    std::int32_t pair;
    __builtin_memcpy(&pair, factors, sizeof pair);
    const __m256i f = _mm256_set1_epi32(pair);
    const __m256i x = reinterpret_cast<__m256i>(a), y = reinterpret_cast<__m256i>(b);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(x, y), f));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(x, y), f));
  }
  HR_HD v16s shifted(int bits) const {
    return reinterpret_cast<v16s>(
        _mm256_packs_epi32(_mm256_srai_epi32(low, bits), _mm256_srai_epi32(high, bits)));
  }
};

}  // namespace headrace::math
