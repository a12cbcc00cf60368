#include <immintrin.h>

#include <cstddef>

namespace headrace::zarr {
namespace {

constexpr std::size_t kWidth = 16;
using Bytes = __m128i;

template <int kSize>
inline Bytes zip(Bytes a, Bytes b, bool high) {
  if constexpr (kSize == 1) return high ? _mm_unpackhi_epi8(a, b) : _mm_unpacklo_epi8(a, b);
  if constexpr (kSize == 2) return high ? _mm_unpackhi_epi16(a, b) : _mm_unpacklo_epi16(a, b);
  if constexpr (kSize == 4) return high ? _mm_unpackhi_epi32(a, b) : _mm_unpacklo_epi32(a, b);
  if constexpr (kSize == 8) return high ? _mm_unpackhi_epi64(a, b) : _mm_unpacklo_epi64(a, b);
}

}  // namespace
}  // namespace headrace::zarr
#include "headrace/zarr/codec/bit_shuffle.inc"

const headrace::zarr::BitShuffle headrace::zarr::kBitShuffleV1{shuffle, unshuffle};
