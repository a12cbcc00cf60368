#pragma once
#include <cstdint>

#include "headrace/math/hd.hpp"

namespace headrace::zarr {

/// One piece of bytes under a CRC-32C.
struct Crc32cPiece {
  std::uint64_t offset = 0, size = 0;  ///< size 0: the four bytes at `offset` are a stored CRC-32C
  std::uint64_t after = 0;             ///< bytes that follow it under the same checksum
};

namespace detail {

inline constexpr std::uint32_t kCrc32cPolynomial = 0x82f63b78;  // Castagnoli, bits reversed

// a · b modulo the polynomial; bit 31 - k holds x^k.
HR_HD std::uint32_t crc32c_product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int power = 31; power >= 0; --power) {
    product ^= b & (0U - (a >> power & 1U));
    b = (b >> 1) ^ (kCrc32cPolynomial & (0U - (b & 1U)));
  }
  return product;
}

// x^(8 · bytes) modulo the polynomial, by squares.
HR_HD std::uint32_t crc32c_shift(std::uint64_t bytes) {
  std::uint32_t power = 1U << 31, square = 1U << 23;  // x^0, x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) power = crc32c_product(square, power);
    square = crc32c_product(square, square);
  }
  return power;
}

}  // namespace detail

/// A piece's share of the CRC-32C of all bytes: shares are combined by exclusive or, in any order,
/// and with crc32c_of_zeros of the whole size (a CRC is linear: M. Adler, zlib's crc32_combine).
/// Without tables, so that a thread of a GPU reads nothing but its piece. For a stored CRC: its
/// value.
HR_HD std::uint32_t crc32c_share(const Crc32cPiece& piece, const std::uint8_t* bytes) {
  std::uint32_t value = 0;
  if (piece.size == 0) {
    for (int i = 3; i >= 0; --i)
      value = value << 8 | bytes[piece.offset + static_cast<std::uint64_t>(i)];
    return value;
  }
  for (std::uint64_t i = 0; i < piece.size; ++i) {
    value ^= bytes[piece.offset + i];
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ (detail::kCrc32cPolynomial & (0U - (value & 1U)));
    }
  }
  return detail::crc32c_product(detail::crc32c_shift(piece.after), value);
}

/// The CRC-32C of `size` zeros: what it begins and ends with.
HR_HD std::uint32_t crc32c_of_zeros(std::uint64_t size) {
  return detail::crc32c_product(detail::crc32c_shift(size), ~0U) ^ ~0U;
}

}  // namespace headrace::zarr
