#pragma once
/// Registers of bytes, interleaved. Not for CUDA.
#include <utility>

#include "headrace/math/hd.hpp"

namespace headrace::math {

/// Where byte i of zip's result comes from: bytes of a, then those of b.
constexpr int zipped_from(int i, int width, int size, bool upper) {
  const int element = i % 16 / size, of_b = element % 2 * width;
  return of_b + i / 16 * 16 + (upper ? 8 : 0) + element / 2 * size + i % size;
}

/// In each 16 bytes, which registers of 32 bytes treat alike, the lower halves of a and b (kUpper:
/// the upper ones), interleaved by elements of kSize bytes.
template <int kSize, bool kUpper, typename Bytes>
HR_HD Bytes zip(Bytes a, Bytes b) {
  return [&]<int... i>(std::integer_sequence<int, i...>) HR_LAMBDA {
    return __builtin_shufflevector(a, b, zipped_from(i, sizeof(Bytes), kSize, kUpper)...);
  }
  (std::make_integer_sequence<int, sizeof(Bytes)>());
}

}  // namespace headrace::math
