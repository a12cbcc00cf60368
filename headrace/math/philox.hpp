#pragma once
#include <cstdint>

#include "headrace/math/lane.hpp"

namespace headrace::math {

/// Four 32-bit words, or lanes of them: the counter of Philox4x32, and its output.
template <typename U>
struct Philox4Of {
  U v[4];
};
using Philox4 = Philox4Of<std::uint32_t>;

/// One block of Philox4x32-10 in each lane: a bijection of the 128-bit counter under a 64-bit key,
/// so any block is computed without those before it.
///
/// source  Salmon et al., Parallel random numbers: as easy as 1, 2, 3. SC 2011, section 3.3;
/// constants of Random123.
template <typename U>
HR_HD Philox4Of<U> philox4x32_10(Philox4Of<U> counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    U high0, low0, high1, low1;
    multiply_wide(counter.v[0], 0xD2511F53u, high0, low0);
    multiply_wide(counter.v[2], 0xCD9E8D57u, high1, low1);
    counter = Philox4Of<U>{{high1 ^ counter.v[1] ^ key0, low1, high0 ^ counter.v[3] ^ key1, low0}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Maps a word to [0, 1): multiples of 2^-24, each exact in float.
HR_HD float uniform01(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 5.9604644775390625e-8f;
}

/// Maps two words to [0, 1): multiples of 2^-53, each exact in double.
HR_HD double uniform01(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>(((std::uint64_t{high} << 32) | low) >> 11) * 1.1102230246251565e-16;
}

}  // namespace headrace::math
