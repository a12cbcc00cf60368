#pragma once
#include <cstdint>

#include "headrace/math/hd.hpp"

namespace headrace::math {

/// Four 32-bit words: the counter of Philox4x32, and its output.
struct Philox4 {
  std::uint32_t v[4];
};

/// One block of Philox4x32-10: a bijection of the 128-bit counter under a 64-bit key, so any block is
/// computed without those before it.
///
/// source  Salmon et al., Parallel random numbers: as easy as 1, 2, 3. SC 2011, section 3.3; constants of Random123.
HR_HD Philox4 philox4x32_10(Philox4 counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * counter.v[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * counter.v[2];
    counter = Philox4{{static_cast<std::uint32_t>(p1 >> 32) ^ counter.v[1] ^ key0,
                       static_cast<std::uint32_t>(p1),
                       static_cast<std::uint32_t>(p0 >> 32) ^ counter.v[3] ^ key1,
                       static_cast<std::uint32_t>(p0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Maps a word to [0, 1): multiples of 2^-24, each exact in float.
HR_HD float uniform01(std::uint32_t word) { return static_cast<float>(word >> 8) * 5.9604644775390625e-8f; }

/// Maps two words to [0, 1): multiples of 2^-53, each exact in double.
HR_HD double uniform01(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>(((std::uint64_t{high} << 32) | low) >> 11) * 1.1102230246251565e-16;
}

}  // namespace headrace::math
