#pragma once
#include <cstdint>

#include "headrace/math/hd.hpp"
#include "headrace/math/philox.hpp"

namespace headrace::math {

/// The place of `index` in the permutation of 0 … count - 1 that belongs to (seed, stream, cycle),
/// computed without the other places. A Feistel network of eight rounds over the next even number
/// of bits, with Philox4x32-10 as round function, applied again until the result falls below
/// `count` (fewer than four times on average).
///
/// in      index  < count, count at least 1
/// counter of round r: (right half, cycle low, cycle high, stream + r), so streams are eight apart
/// source  Luby, Rackoff, How to construct pseudorandom permutations from pseudorandom functions,
/// SIAM J. Comput. 17 (2), 1988; cycle walking: Black, Rogaway, CT-RSA 2002, section 3
HR_HD std::uint64_t permuted(std::uint64_t index, std::uint64_t count, std::uint64_t seed,
                             std::uint32_t stream, std::uint64_t cycle) {
  int half = 1;
  while (half < 32 && (count - 1) >> (2 * half) != 0) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = index >> half, right = index & mask;
    for (std::uint32_t round = 0; round < 8; ++round) {
      const Philox4 word = philox4x32_10(
          Philox4{{static_cast<std::uint32_t>(right), static_cast<std::uint32_t>(cycle),
                   static_cast<std::uint32_t>(cycle >> 32), stream + round}},
          static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
      const std::uint64_t next = left ^ (word.v[0] & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

}  // namespace headrace::math
