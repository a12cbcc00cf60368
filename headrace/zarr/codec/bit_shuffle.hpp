#pragma once
#include <cstddef>

namespace headrace::zarr {

/// Bit shuffle of 16-bit elements, as blosc's: byte i of plane b holds bit b of elements 8i to 8i +
/// 7, the first in its lowest bit; the 16 planes lie one after the other, count / 8 bytes each.
/// `count` is a multiple of 8.
///
/// source  K. Masui et al., Astronomy and Computing 12 (2015), and bitshuffle-generic.c of c-blosc
void bit_shuffle16(const std::byte* elements, std::size_t count, std::byte* planes);

/// Elements [first, last) to `out`, which is where element `first` goes; both are multiples of 8.
void bit_unshuffle16(const std::byte* planes, std::size_t count, std::size_t first,
                     std::size_t last, std::byte* out);

/// The same for one level of x86-64 each; the two above take the one of device::cpu_isa().
struct BitShuffle {
  decltype(&bit_shuffle16) shuffle;
  decltype(&bit_unshuffle16) unshuffle;
};
extern const BitShuffle kBitShuffleV1, kBitShuffleV3;

}  // namespace headrace::zarr
